import type { Metadata } from "next";
import { RoutingPage } from "../../../features/routing/routing-page";

export const metadata: Metadata = { title: "Routing configuration" };

export default function Page() {
  return <RoutingPage />;
}
