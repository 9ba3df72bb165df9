export function NodesPage() { return <p>NodesPage</p>; }
