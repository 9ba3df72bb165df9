import type { Metadata } from "next";
import { AuthFrame } from "../../../features/session/auth-frame";
import { WelcomeForm } from "../../../features/session/welcome-form";

export const metadata: Metadata = { title: "Welcome" };

export default function WelcomePage() {
  return (
    <AuthFrame
      title="Choose your password"
      lead="An administrator made this link for you. It works once; afterwards you sign in with your email and the password that you choose here."
    >
      <WelcomeForm />
    </AuthFrame>
  );
}
