import clsx from "clsx";
import {
  Circle,
  CircleCheck,
  CircleDashed,
  CircleDot,
  CircleSlash,
  CircleX,
  LoaderCircle,
  type LucideIcon,
  TriangleAlert,
} from "lucide-react";
import { Fragment, type ReactNode } from "react";

export type Tone = "good" | "warn" | "busy" | "bad" | "plain" | "accent";
export type Shape = "check" | "alert" | "dashed" | "dot" | "slash" | "cross" | "spin" | "circle" | "none";

const tones: Record<Tone, string> = {
  good: "bg-good-wash text-good-ink",
  warn: "bg-warn-wash text-warn-ink",
  busy: "bg-busy-wash text-busy-ink",
  bad: "bg-bad-wash text-bad-ink",
  plain: "bg-plain-wash text-plain-ink",
  accent: "bg-accent-wash text-accent-wash-ink",
};

const shapes: Record<Exclude<Shape, "none">, LucideIcon> = {
  check: CircleCheck,
  alert: TriangleAlert,
  dashed: CircleDashed,
  dot: CircleDot,
  slash: CircleSlash,
  cross: CircleX,
  spin: LoaderCircle,
  circle: Circle,
};

/** A status as word, shape and colour together, so that no one of the three has to carry it alone. */
export function Badge({
  tone = "plain",
  shape = "none",
  children,
}: {
  tone?: Tone;
  shape?: Shape;
  children: ReactNode;
}) {
  const Icon = shape === "none" ? null : shapes[shape];
  return (
    <span
      className={clsx(
        "inline-flex max-w-full items-center gap-1 rounded-xl px-2 py-0.5 text-[0.75rem] leading-5 font-semibold",
        // On a narrow screen a long status breaks; on a wide one it is never torn apart.
        "[overflow-wrap:anywhere] sm:whitespace-nowrap",
        tones[tone],
      )}
    >
      {Icon ? (
        <Icon
          aria-hidden="true"
          className={clsx("size-3.5 shrink-0", shape === "spin" && "animate-spin")}
          strokeWidth={2.25}
        />
      ) : null}
      <span className="min-w-0">{typeof children === "string" ? breakable(children) : children}</span>
    </span>
  );
}

/** TRANSFER_INELIGIBLE breaks between its words, and nothing is added that would be copied. */
function breakable(text: string): ReactNode {
  const words = text.split(/(?<=_)/);
  return words.map((word, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the words of one status
    <Fragment key={index}>
      {index === 0 ? null : <wbr className="sm:hidden" />}
      {word}
    </Fragment>
  ));
}
