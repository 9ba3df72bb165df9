import type { Dispatcher } from "undici";
import { brokenOff, EngineError, toEngineError } from "./engine-error";

/** Where an engine's bytes go, unread. */
export interface ByteSink {
  start(status: number, contentType: string, contentLength: string | null): void;
  /** False where it has taken the bytes and wants no more until `drained`. */
  write(part: Uint8Array): boolean;
  /** Rejects where nobody takes them any more. */
  drained(): Promise<void>;
}

/**
 * Carries an answer from the engine to a sink as it comes: no stream object, no promise for each piece. Rejects with an
 * EngineError; the sink knows whether anything has left by then.
 */
export function passThrough(
  pool: Dispatcher,
  request: Dispatcher.DispatchOptions,
  sink: ByteSink,
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let started = false;
    let call: Dispatcher.DispatchController | null = null;
    const settle = (error: EngineError | null) => {
      signal.removeEventListener("abort", leave);
      if (error) reject(error);
      else resolve();
    };
    const giveUp = (error: EngineError) => {
      settle(error);
      call?.abort(error);
    };
    const leave = () => giveUp(new EngineError({ kind: "aborted" }, "the request was given up"));
    if (signal.aborted) return leave();
    signal.addEventListener("abort", leave, { once: true });
    pool.dispatch(request, {
      onRequestStart(controller) {
        call = controller;
        // It may have been given up while it stood in line for a connection.
        if (signal.aborted)
          controller.abort(new EngineError({ kind: "aborted" }, "the request was given up"));
      },
      onResponseStart(_controller, status, headers) {
        if (status < 200) return;
        started = true;
        try {
          sink.start(
            status,
            oneOf(headers["content-type"]) ?? "application/json",
            oneOf(headers["content-length"]),
          );
        } catch (error) {
          giveUp(toEngineError(error));
        }
      },
      onResponseData(controller, part) {
        if (signal.aborted || sink.write(part)) return;
        controller.pause();
        sink.drained().then(
          () => controller.resume(),
          (error) => giveUp(toEngineError(error)),
        );
      },
      onResponseEnd() {
        settle(null);
      },
      onResponseError(_controller, error) {
        settle(started ? brokenOff(error) : toEngineError(error));
      },
    });
  });
}

function oneOf(header: string | string[] | undefined): string | null {
  return (Array.isArray(header) ? header[0] : header) ?? null;
}
