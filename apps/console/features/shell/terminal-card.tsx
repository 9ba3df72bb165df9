import { Card } from "../../ui/card";
import { Command } from "../../ui/command";

/** Every page has its form on the command line. */
export function Terminal({ commands, className }: { commands: string[]; className?: string }) {
  return (
    <Card
      title="From a terminal"
      hint="The same verbs, in the folder Helm was started from."
      className={className}
    >
      <div className="space-y-2">
        {commands.map((command) => (
          <Command key={command} text={command} />
        ))}
      </div>
    </Card>
  );
}
