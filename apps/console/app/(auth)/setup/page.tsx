import type { Metadata } from "next";
import { Suspense } from "react";
import { AuthFrame } from "../../../features/session/auth-frame";
import { SetupForm } from "../../../features/session/setup-form";

export const metadata: Metadata = { title: "Set up" };

export default function SetupPage() {
  return (
    <AuthFrame title="Create the administrator">
      <Suspense>
        <SetupForm />
      </Suspense>
    </AuthFrame>
  );
}
