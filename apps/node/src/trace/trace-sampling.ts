import { RefusalCode, type TraceKept } from "@helm/contracts";

/** What is out of the ordinary is sent whole, up to so many a minute; beyond it at the rate of the rest. */
const UNUSUAL_A_MINUTE = 600;

export interface TraceFacts {
  transfer: string | null;
  errorCode: string | null;
  share: boolean;
  /** Somebody is waiting for this very trace. */
  asked: boolean;
}

/** Which traces are sent, and with which probability each was. */
export class TraceSampling {
  private minute = 0;
  private unusual = 0;

  constructor(
    private readonly rate: () => number,
    private readonly random: () => number = Math.random,
    private readonly now: () => number = Date.now,
  ) {}

  /** Null: not sent. */
  decide(facts: TraceFacts): { kept: TraceKept; propensity: number } | null {
    const why = unusualBecause(facts);
    // Shares are few and carry their own propensity, and who asked waits: neither counts towards the bound.
    if (why === "share" || why === "asked") return { kept: why, propensity: 1 };
    if (why !== null && this.takeUnusual()) return { kept: why, propensity: 1 };
    const rate = this.rate();
    return rate > 0 && this.random() < rate ? { kept: why ?? "rate", propensity: rate } : null;
  }

  private takeUnusual(): boolean {
    const minute = Math.floor(this.now() / 60_000);
    if (minute !== this.minute) [this.minute, this.unusual] = [minute, 0];
    if (this.unusual >= UNUSUAL_A_MINUTE) return false;
    this.unusual += 1;
    return true;
  }
}

function unusualBecause({ transfer, errorCode, share, asked }: TraceFacts): TraceKept | null {
  if (asked) return "asked";
  if (share) return "share";
  if (errorCode !== null) return RefusalCode.safeParse(errorCode).success ? "refusal" : "error";
  return transfer === "fallback" ? "fallback" : null;
}
