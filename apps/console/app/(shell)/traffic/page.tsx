import type { Metadata } from "next";
import { TrafficPage } from "../../../features/traffic/traffic-page";

export const metadata: Metadata = { title: "Traffic" };

export default function Page() {
  return <TrafficPage />;
}
