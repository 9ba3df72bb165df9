import { Button } from "./button";
import { CopyButton } from "./copy-button";

/** A secret that nobody can show again: it stays until the person says that it is copied. */
export function ShownOnce({
  secret,
  what,
  testId = "shown-once",
  onDone,
}: {
  secret: string;
  what: string;
  testId?: string;
  onDone: () => void;
}) {
  return (
    <div className="space-y-4">
      <output
        data-testid={testId}
        className="block rounded-lg border border-line bg-panel p-3 font-mono text-[0.8125rem] [overflow-wrap:anywhere]"
      >
        {secret}
      </output>
      <div className="flex flex-wrap justify-end gap-2">
        <CopyButton text={secret} label={`Copy the ${what}`} showLabel />
        <Button kind="primary" onClick={onDone}>
          I have copied it
        </Button>
      </div>
    </div>
  );
}
