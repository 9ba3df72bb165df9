export function PairPage({ id }: { id: string }) { return <p>PairPage {id}</p>; }
