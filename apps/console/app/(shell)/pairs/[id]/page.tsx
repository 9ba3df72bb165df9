import type { Metadata } from "next";
import { PairPage } from "../../../../features/pairs/pair-page";

export const metadata: Metadata = { title: "Pair" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <PairPage id={id} />;
}
