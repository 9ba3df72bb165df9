import type { Metadata } from "next";
import { PairsPage } from "../../../features/pairs/pairs-page";

export const metadata: Metadata = { title: "Pairs" };

export default function Page() {
  return <PairsPage />;
}
