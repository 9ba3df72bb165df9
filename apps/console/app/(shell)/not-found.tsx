import type { Metadata } from "next";
import { NowhereToBe } from "../../features/shell/nowhere";

export const metadata: Metadata = { title: "Not found" };

export default function NotFound() {
  return <NowhereToBe />;
}
