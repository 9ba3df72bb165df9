import type { Metadata } from "next";
import { TracePage } from "../../../../features/traffic/trace-page";

export const metadata: Metadata = { title: "Request" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <TracePage key={(await params).id} id={(await params).id} />;
}
