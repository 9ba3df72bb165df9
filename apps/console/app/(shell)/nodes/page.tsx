import type { Metadata } from "next";
import { NodesPage } from "../../../features/nodes/nodes-page";

export const metadata: Metadata = { title: "Nodes and workers" };

export default function Page() {
  return <NodesPage />;
}
