"use client";

import { useSyncExternalStore } from "react";
import { Card } from "../../ui/card";
import { Command } from "../../ui/command";
import { command } from "./commands";

const never = () => () => undefined;

/** Every page has its form on the command line; how to sign in there is said once, before the rest. */
export function Terminal({ commands, className }: { commands: string[]; className?: string }) {
  // Where this console is only the browser knows.
  const origin = useSyncExternalStore(
    never,
    () => window.location.origin,
    () => null,
  );
  return (
    <Card
      title="From a terminal"
      hint="The same verbs, in the folder Helm was started from."
      className={className}
    >
      <div className="space-y-2">
        {commands.map((line) => (
          <Command key={line} text={line} />
        ))}
      </div>
      {origin ? (
        <details className="mt-3">
          <summary className="min-h-6 rounded text-ink-soft">Not signed in there yet?</summary>
          <div className="mt-2">
            <Command text={command.login(origin)} />
          </div>
        </details>
      ) : null}
    </Card>
  );
}
