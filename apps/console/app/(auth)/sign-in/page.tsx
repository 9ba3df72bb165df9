import type { Metadata } from "next";
import { Suspense } from "react";
import { AuthFrame } from "../../../features/session/auth-frame";
import { SignInForm } from "../../../features/session/sign-in-form";

export const metadata: Metadata = { title: "Sign in" };

export default function SignInPage() {
  return (
    <AuthFrame title="Sign in" lead="With the account of this server.">
      <Suspense>
        <SignInForm />
      </Suspense>
    </AuthFrame>
  );
}
