import type { ReactNode } from "react";
import { Mark } from "../../ui/mark";

export function AuthFrame({
  title,
  lead,
  children,
}: {
  title: string;
  lead?: ReactNode;
  children: ReactNode;
}) {
  return (
    <main className="mx-auto flex min-h-dvh w-full max-w-md flex-col justify-center px-4 py-10">
      <div className="mb-5 flex items-center gap-2 text-base font-semibold">
        <Mark />
        Lifeboat
      </div>
      <div className="rounded-xl border border-line bg-card p-5 sm:p-6">
        <h1 className="text-lg font-semibold">{title}</h1>
        {lead ? <p className="mt-1 text-ink-soft">{lead}</p> : null}
        <div className="mt-5">{children}</div>
      </div>
    </main>
  );
}
