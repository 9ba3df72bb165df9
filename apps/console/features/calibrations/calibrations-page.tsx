export function CalibrationsPage() { return <p>CalibrationsPage</p>; }
