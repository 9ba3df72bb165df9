import type { Metadata } from "next";
import { HelmPage } from "../../../../../features/helm/helm-page";

export const metadata: Metadata = { title: "Helm Intelligent Routing" };

export default function Page() {
  return <HelmPage />;
}
