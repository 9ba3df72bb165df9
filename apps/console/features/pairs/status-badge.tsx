import type { PairStatus } from "@helm/contracts";
import { Badge } from "../../ui/badge";
import { STATUS } from "./pair-words";

export function PairStatusBadge({ status }: { status: PairStatus }) {
  const { tone, shape } = STATUS[status];
  return (
    <Badge tone={tone} shape={shape}>
      {status}
    </Badge>
  );
}

export function Calibrating() {
  return (
    <Badge tone="busy" shape="spin">
      CALIBRATING
    </Badge>
  );
}

/** Pairs of a model with itself and scores made on a CPU serve on development nodes only. */
export function Marks({ control, developmentOnly }: { control: boolean; developmentOnly: boolean }) {
  return (
    <>
      {control ? <Badge shape="circle">control</Badge> : null}
      {developmentOnly && !control ? <Badge tone="warn">development</Badge> : null}
    </>
  );
}
