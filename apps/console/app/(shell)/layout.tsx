import type { ReactNode } from "react";
import { LiveProvider } from "../../api/live";
import { Shell } from "../../features/shell/shell";

export default function ShellLayout({ children }: { children: ReactNode }) {
  return (
    <LiveProvider>
      <Shell>{children}</Shell>
    </LiveProvider>
  );
}
