import { HostRequestError } from "@helm/host";

/** A wait that something can end early: a hint, a reconnect, a stop. */
export class Bell {
  private ring: (() => void) | null = null;
  private rung = false;

  wake(): void {
    this.rung = true;
    this.ring?.();
  }

  async wait(ms: number): Promise<void> {
    if (!this.rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        this.ring = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.ring = null;
    this.rung = false;
  }
}

/**
 * Tries until the control plane answers: absence is waited out, 0.5 s at first and 5 s at most between tries.
 * Errors: what the control plane refused for good; the signal's reason once it is aborted.
 */
export async function untilAnswered<T>(
  attempt: () => Promise<T>,
  bell: Bell,
  signal: AbortSignal,
): Promise<T> {
  for (let wait = 500; ; wait = Math.min(wait * 2, 5000)) {
    signal.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (!(error instanceof HostRequestError) || !error.retriable) throw error;
      const stop = () => bell.wake();
      signal.addEventListener("abort", stop, { once: true });
      await bell.wait(wait);
      signal.removeEventListener("abort", stop);
    }
  }
}
