import type { Metadata } from "next";
import { TenantPage } from "../../../../features/tenants/tenant-page";

export const metadata: Metadata = { title: "Tenant" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <TenantPage id={id} />;
}
