export function HelmPage() { return <p>HelmPage</p>; }
