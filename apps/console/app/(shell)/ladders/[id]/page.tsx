import type { Metadata } from "next";
import { LadderPage } from "../../../../features/ladders/ladder-page";

export const metadata: Metadata = { title: "Ladder" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  return <LadderPage id={(await params).id} />;
}
