export function TenantPage({ id }: { id: string }) { return <p>TenantPage {id}</p>; }
