export function PairsPage() { return <p>PairsPage</p>; }
