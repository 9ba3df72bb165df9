import type { Metadata } from "next";
import { CalibrationPage } from "../../../../features/calibrations/calibration-page";

export const metadata: Metadata = { title: "Calibration" };

export default async function Page({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <CalibrationPage id={id} />;
}
