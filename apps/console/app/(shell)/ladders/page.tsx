import type { Metadata } from "next";
import { LaddersPage } from "../../../features/ladders/ladders-page";

export const metadata: Metadata = { title: "Ladders" };

export default function Page() {
  return <LaddersPage />;
}
