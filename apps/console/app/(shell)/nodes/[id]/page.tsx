import type { Metadata } from "next";
import { NodePage } from "../../../../features/nodes/node-page";

export const metadata: Metadata = { title: "Node" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <NodePage id={(await params).id} />;
}
