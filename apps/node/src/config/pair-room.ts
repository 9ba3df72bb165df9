import { setTimeout as pause } from "node:timers/promises";
import { FallbackReason, type PairReadiness, type RoutingSnapshot, type SnapshotPair } from "@helm/contracts";
import { ArtifactMismatch, DiskFull, type HostClient, HostRequestError, type Logger } from "@helm/host";
import { isEngineError } from "../engine/engine-error";
import type { ServingEngine } from "../engine/serving-engine";
import { runTransferCanary } from "./canary";
import { MapperShelf } from "./mapper-shelf";
import { pairsToReady } from "./way-down";

export interface PairRoomSettings {
  mapperDir: string;
  /** Where mappers come from; null on a node that has not joined. */
  artifacts: HostClient;
  development: boolean;
  /** A pair that is placed elsewhere is refused here and fetches nothing. */
  nodeId: string;
  canaryLengths: readonly number[];
  canaryMs: number;
  /** First wait before a canary that failed for a passing reason is tried again. */
  retryMs?: number;
}

const FIRST_RETRY_MS = 1_000;
const LONGEST_RETRY_MS = 30_000;
const PASSING = new Set<FallbackReason>(["NO_MEMORY", "STAGING_GONE", "TIMEOUT", "ENGINE_ERROR"]);

interface Place {
  /** What the readiness was made for; another mapper or another engine starts anew. */
  key: string;
  readiness: PairReadiness;
  work: AbortController;
}

/** Readiness of every pair in the snapshot: fetch its mapper, load it, transfer once for real, and only then READY. */
export class PairRoom {
  private readonly places = new Map<string, Place>();
  /** One canary at a time: two would measure each other. */
  private turn: Promise<void> = Promise.resolve();
  private engineNumber = 0;
  private engine: ServingEngine | null = null;
  private readonly shelf: MapperShelf;

  constructor(
    private readonly settings: PairRoomSettings,
    private readonly log: Logger,
    private readonly onChange: () => void,
  ) {
    this.shelf = new MapperShelf(settings.mapperDir, settings.artifacts);
  }

  list(): PairReadiness[] {
    return [...this.places.values()].map((place) => place.readiness);
  }

  readiness(pairId: string): PairReadiness {
    return this.places.get(pairId)?.readiness ?? { pair_id: pairId, state: "FETCHING" };
  }

  /** Brings the room in line with what is wanted and what serves. */
  reconcile(snapshot: RoutingSnapshot | null, engine: ServingEngine | null): void {
    if (engine !== this.engine) this.engineNumber += 1;
    this.engine = engine;
    const pairs = snapshot ? pairsToReady(snapshot) : [];
    const wanted = new Set(pairs.map((pair) => pair.id));
    for (const [id, place] of this.places) {
      if (wanted.has(id)) continue;
      place.work.abort();
      this.places.delete(id);
    }
    // Before anything is fetched for it: what is wanted now is not removed for what was not wanted before.
    if (snapshot) this.shelf.want(mappersHere(snapshot, this.settings));
    for (const pair of pairs) this.arrange(pair, engine);
    if (snapshot) this.tidy();
    this.onChange();
  }

  /** Every pair that may be used here shows once more that it can; a READY one stays so until the answer is there. */
  canaryAgain(snapshot: RoutingSnapshot | null): void {
    const { engine } = this;
    for (const pair of snapshot ? pairsToReady(snapshot) : []) {
      const place = this.places.get(pair.id);
      if (!place || !engine || refusePair(pair, engine, this.settings) !== null) continue;
      place.work.abort();
      place.work = new AbortController();
      void this.prepare(pair, engine, place);
    }
  }

  close(): void {
    for (const place of this.places.values()) place.work.abort();
  }

  private arrange(pair: SnapshotPair, engine: ServingEngine | null): void {
    const refusal = refusePair(pair, engine, this.settings);
    const key = JSON.stringify([refusal, pair.mapper_sha256, this.engineNumber, pair.pilot, pair.target]);
    const before = this.places.get(pair.id);
    if (before?.key === key) return;
    before?.work.abort();
    const work = new AbortController();
    const readiness: PairReadiness = refusal
      ? { pair_id: pair.id, state: "REFUSED", code: refusal }
      : { pair_id: pair.id, state: "FETCHING" };
    const place: Place = { key, readiness, work };
    this.places.set(pair.id, place);
    if (!refusal && engine) void this.prepare(pair, engine, place);
  }

  /** A reason that passes (a full budget, a slow moment) is tried again; one that stays is the pair's verdict here. */
  private async prepare(pair: SnapshotPair, engine: ServingEngine, place: Place): Promise<void> {
    const { work } = place;
    const { signal } = work;
    for (let wait = this.settings.retryMs ?? FIRST_RETRY_MS; ; wait = Math.min(LONGEST_RETRY_MS, wait * 2)) {
      const refused = await this.tryOnce(pair, engine, place, work);
      if (refused === null || !PASSING.has(refused)) return;
      await pause(wait, undefined, { signal }).catch(() => {});
      if (signal.aborted) return;
    }
  }

  /** Null where the pair is ready or nobody asks any more. */
  private async tryOnce(
    pair: SnapshotPair,
    engine: ServingEngine,
    place: Place,
    work: AbortController,
  ): Promise<FallbackReason | null> {
    const { signal } = work;
    try {
      await this.fetch(pair, signal);
      // It came for somebody who has left.
      if (signal.aborted) this.tidy();
      return await this.inTurn(signal, () => this.canary(pair, engine, place, signal));
    } catch (error) {
      if (signal.aborted) return null;
      const code = codeOf(error);
      this.log.warn({ err: error, pair: pair.id, code }, "the pair cannot be used here");
      this.settle(place, signal, { state: "REFUSED", code });
      return code;
    }
  }

  private async canary(
    pair: SnapshotPair,
    engine: ServingEngine,
    place: Place,
    signal: AbortSignal,
  ): Promise<FallbackReason | null> {
    const mapper = pair.mapper_sha256 ?? "";
    await engine.client.loadMapper(mapper);
    const lengths = fittingLengths(pair, engine, this.settings.canaryLengths);
    const ask = { pilot: pair.pilot, target: pair.target, mapper, lengths, budgetMs: this.settings.canaryMs };
    const result = await runTransferCanary(engine.client, ask, signal);
    if (!result.ok) {
      this.settle(place, signal, { state: "REFUSED", code: result.reason });
      return result.reason;
    }
    this.log.info(
      { pair: pair.id, min_tokens: result.minTokens, points: result.points },
      "the pair is ready",
    );
    const canary_at = new Date().toISOString();
    this.settle(place, signal, { state: "READY", min_tokens: result.minTokens, canary_at });
    return null;
  }

  /**
   * Downloads until it is there; a control plane that is away and a full disk are waited for. A part that had gone bad on
   * this disk was thrown away, so a wrong artifact is asked for once more, whole.
   */
  private async fetch(pair: SnapshotPair, signal: AbortSignal): Promise<void> {
    const sha256 = pair.mapper_sha256 ?? "";
    let again = true;
    for (let wait = FIRST_RETRY_MS; ; wait = Math.min(LONGEST_RETRY_MS, wait * 2)) {
      try {
        return await this.shelf.fetch(sha256, pair.mapper_bytes ?? 0);
      } catch (error) {
        if (error instanceof ArtifactMismatch && again) {
          again = false;
          this.log.warn(
            { err: error, mapper: sha256 },
            "a part of the mapper was damaged; it is fetched anew",
          );
          continue;
        }
        const passing = error instanceof DiskFull || (error instanceof HostRequestError && error.retriable);
        if (!passing) throw error;
        this.log.warn({ err: error, mapper: sha256 }, "the mapper could not be fetched yet");
      }
      await pause(wait, undefined, { signal });
    }
  }

  private async inTurn<T>(signal: AbortSignal, work: () => Promise<T | null>): Promise<T | null> {
    const mine = this.turn.then(() => (signal.aborted ? null : work()));
    this.turn = mine.then(
      () => {},
      () => {},
    );
    return mine;
  }

  private settle(place: Place, signal: AbortSignal, readiness: Omit<PairReadiness, "pair_id">): void {
    if (signal.aborted) return;
    place.readiness = { pair_id: place.readiness.pair_id, ...readiness };
    this.onChange();
  }

  /** Not while a canary runs: a mapper that is being loaded would be dropped first, and stay in the engine for ever. */
  private tidy(): void {
    const drop = async (sha256: string) => this.engine?.client.dropMapper(sha256);
    this.turn = this.turn
      .then(() => this.shelf.tidy(drop))
      .catch((error: unknown) =>
        this.log.warn({ err: error }, "mappers that nobody uses could not be removed"),
      );
  }
}

/** Mappers that a pair of the snapshot asks for on this node. */
function mappersHere(snapshot: RoutingSnapshot, here: Here): ReadonlySet<string> {
  return new Set(
    snapshot.pairs.filter((pair) => isPlaced(pair, here)).flatMap((pair) => pair.mapper_sha256 ?? []),
  );
}

/** The prompt lengths that both models have the context for; at least one is tried. */
export function fittingLengths(
  pair: SnapshotPair,
  engine: ServingEngine,
  lengths: readonly number[],
): readonly number[] {
  const contexts = [pair.pilot, pair.target].map(
    (name) => engine.models.get(name)?.max_model_len ?? Number.POSITIVE_INFINITY,
  );
  const fitting = lengths.filter((tokens) => tokens < Math.min(...contexts));
  return fitting.length > 0 ? fitting : lengths.slice(0, 1);
}

type Here = Pick<PairRoomSettings, "nodeId" | "development">;

/** What a CPU made is at home on development nodes only, whatever a snapshot says. */
function isPlaced(pair: SnapshotPair, { nodeId, development }: Here): boolean {
  const named = !pair.nodes || pair.nodes.includes(nodeId);
  return named && (development || !pair.development);
}

/** Why a pair may not be used here at all, before anything is fetched for it. */
export function refusePair(
  pair: SnapshotPair,
  engine: ServingEngine | null,
  here: Here,
): FallbackReason | null {
  if (pair.refusal !== null) return pair.refusal;
  if (pair.mapper_sha256 === null) return "NOT_CALIBRATED";
  if (!isPlaced(pair, here)) return "NOT_PLACED";
  if (!engine) return null;
  const pilot = engine.models.get(pair.pilot);
  const target = engine.models.get(pair.target);
  const same = (served: string | null | undefined, wanted: string | null) =>
    !served || wanted === null || served === wanted;
  if (!pilot || !target) return "PAIR_MISMATCH";
  const matches =
    same(pilot.weights_sha256, pair.pilot_weights_sha256) &&
    same(target.weights_sha256, pair.target_weights_sha256);
  return matches ? null : "PAIR_MISMATCH";
}

function codeOf(error: unknown): FallbackReason {
  if (error instanceof ArtifactMismatch || error instanceof HostRequestError) return "ARTIFACT_UNREADABLE";
  if (!isEngineError(error) || error.failure.kind !== "http") return "ENGINE_ERROR";
  const body = error.failure.body as { error?: { code?: unknown } } | null;
  return FallbackReason.safeParse(body?.error?.code).data ?? "ENGINE_ERROR";
}
