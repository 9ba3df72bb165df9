export function TenantsPage() { return <p>TenantsPage</p>; }
