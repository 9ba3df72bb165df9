import type { Metadata } from "next";
import { Suspense } from "react";
import { AuthFrame } from "../../../features/session/auth-frame";
import { SetupForm } from "../../../features/session/setup-form";

export const metadata: Metadata = { title: "Set up" };

export default function SetupPage() {
  return (
    <AuthFrame
      title="Create the administrator"
      lead="This server has no account yet, and no default password. The setup token proves that you are the one who started it."
    >
      <Suspense>
        <SetupForm />
      </Suspense>
    </AuthFrame>
  );
}
