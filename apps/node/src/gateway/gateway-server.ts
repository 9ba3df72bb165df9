import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { GatewayHeader, PLAYGROUND_TENANT, type RequestTrace, type ServingState } from "@helm/contracts";
import type { Tenant } from "../config/access";
import { isEngineError } from "../engine/engine-error";
import type { ServingEngine } from "../engine/serving-engine";
import { isDraining } from "../serving/serving-states";
import type { TraceBuilder } from "../trace/trace-builder";
import { noteFailure } from "./accounts/note-failure";
import { watchState } from "./accounts/state-metrics";
import { TenantQuota } from "./admission/tenant-quota";
import { baseHeaders } from "./answers/helm-headers";
import { lingerFor } from "./answers/linger";
import { ResponseWriter } from "./answers/response-writer";
import { answerUnreadable } from "./answers/unreadable-request";
import { type BodyHold, BodyRoom } from "./bodies/body-room";
import { readGeneration } from "./bodies/generation";
import { readJsonBody } from "./bodies/read-body";
import { requireMetricsAccess } from "./counters/metrics-access";
import { serveEscalate, serveGeneration } from "./decisions/serve";
import { serveReturn } from "./decisions/serve-return";
import { badRequest, GatewayError, noCapacity, toGatewayError } from "./errors/gateway-error";
import type { Exchange, GatewayResources } from "./exchange/resources";
import { answerHealth, listModels, writeMetrics } from "./information";
import { GATEWAY_ROUTES } from "./routes";

/** Connections that may stand in line to be taken: a burst of clients comes at once. */
const BACKLOG = 4_096;

/** The OpenAI-compatible door of a node. */
export class GatewayServer {
  private readonly server: Server;
  private readonly running = new Set<AbortController>();
  private readonly quota = new TenantQuota();
  private readonly bodies: BodyRoom;
  /** Connections with a request that is being answered: nothing else may be written there. */
  private readonly answering = new WeakSet<Duplex>();
  private draining = false;

  constructor(private readonly gw: GatewayResources) {
    const { headersMs, bodyMs, allBodiesBytes } = gw.limits;
    this.bodies = new BodyRoom(allBodiesBytes);
    watchState(gw);
    // A body that comes too slowly is answered in the gateway's own words; the server's limit stands behind that.
    const limits = {
      keepAliveTimeout: 75_000,
      headersTimeout: headersMs,
      requestTimeout: headersMs + 2 * bodyMs,
      connectionsCheckingInterval: Math.min(5_000, Math.ceil(headersMs / 4)),
    };
    this.server = createServer(limits, (request, response) => {
      this.handle(request, response).catch((error: unknown) => {
        gw.log.error({ err: error }, "a request ended in an error nobody expected");
        response.destroy();
      });
    });
    this.server.on("clientError", (error, socket) => {
      if (this.answering.has(socket)) socket.destroy();
      else answerUnreadable(error, socket as Socket);
    });
  }

  /** Bytes of request bodies that are held now. */
  get bodyBytes(): number {
    return this.bodies.bytes;
  }

  /** Listens; resolves with the port (0 picks a free one). */
  async listen(port: number, host: string): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.server.once("error", reject);
      this.server.listen({ port, host, backlog: BACKLOG }, resolve);
    });
    return (this.server.address() as AddressInfo).port;
  }

  /** Takes nothing new, lets what runs end within `graceMs`, then ends it. */
  async close(graceMs: number): Promise<void> {
    this.draining = true;
    this.gw.shares.close();
    const closed = new Promise<void>((resolve) => this.server.close(() => resolve()));
    this.server.closeIdleConnections();
    const timer = setTimeout(() => {
      for (const controller of this.running) controller.abort();
      this.server.closeAllConnections();
    }, graceMs);
    await closed;
    clearTimeout(timer);
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const traceId = newTraceId();
    const writer = new ResponseWriter(response, this.gw.limits.stallMs);
    const path = pathOf(request.url ?? "/");
    const headers = baseHeaders(traceId, this.gw.development);
    const controller = new AbortController();
    this.running.add(controller);
    const { socket } = request;
    this.answering.add(socket);
    response.once("close", () => {
      this.answering.delete(socket);
      if (!response.writableFinished) controller.abort();
    });
    try {
      await this.route(request, path, writer, traceId, controller.signal);
    } catch (error) {
      if (controller.signal.aborted) response.destroy();
      else await this.answerError(request, writer, headers, error, traceId);
    } finally {
      this.running.delete(controller);
    }
  }

  private async route(
    request: IncomingMessage,
    path: string,
    writer: ResponseWriter,
    traceId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { gw } = this;
    const what = `${request.method} ${path}`;
    const route = GATEWAY_ROUTES.find((one) => one.what === what);
    if (!route) throw new GatewayError(404, "not_found", `There is no ${what} here.`);
    if (route.does === "health") return answerHealth(gw, writer, traceId, this.draining);
    if (route.does === "metrics") {
      requireMetricsAccess(gw.metricsAccess, request);
      return writeMetrics(gw, writer);
    }
    if (!gw.routing.configured) throw noCapacity("This node has not received its access list yet.");
    const tenant = gw.routing.authenticate(request.headers.authorization);
    if (!tenant) {
      throw new GatewayError(401, "invalid_api_key", "The API key is missing, unknown or expired.", {
        type: "authentication_error",
        headers: { "www-authenticate": "Bearer" },
      });
    }
    if (route.does === "models") return listModels(gw, this.servingEngine(), writer, traceId);
    const serve = SERVES[route.does];
    const trace = gw.traces.begin(
      traceId,
      tenant,
      path as RequestTrace["endpoint"],
      tenant.id === PLAYGROUND_TENANT,
      traceparentOf(request),
    );
    try {
      await this.serve({ request, path, writer, traceId, signal, tenant, serve, trace });
    } catch (error) {
      noteFailure(gw, trace, error, signal.aborted);
      throw error;
    } finally {
      gw.traces.finish(trace);
    }
  }

  private servingEngine(): ServingEngine {
    if (this.draining) throw noCapacity("This node is shutting down.");
    const engine = this.gw.engine();
    if (!engine && isDraining(this.gw.serving.state)) throw notServing(this.gw.serving.state);
    if (!engine) throw noCapacity("No engine is on the serving path right now.");
    return engine;
  }

  private async serve(asked: Omit<Asked, "engine">): Promise<void> {
    const engine = this.servingEngine();
    const leave = this.gw.serving.enter();
    if (!leave) throw notServing(this.gw.serving.state);
    try {
      const done = this.quota.enter(asked.tenant);
      const hold = this.bodies.enter(asked.tenant.id);
      try {
        await this.exchange({ ...asked, engine }, hold);
      } finally {
        hold.leave();
        done();
      }
    } finally {
      leave();
    }
  }

  private async exchange(asked: Asked, hold: BodyHold): Promise<void> {
    const { gw } = this;
    const { request, path, writer, traceId, signal, tenant, engine, serve, trace } = asked;
    const endpoint = path === "/v1/completions" ? "/v1/completions" : "/v1/chat/completions";
    const read = await readJsonBody(request, gw.limits, hold);
    const exchange: Exchange = {
      traceId,
      startedAt: performance.now(),
      tenant,
      session: readSession(request),
      ticket: readTicket(request),
      generation: readGeneration(endpoint, read.body, gw.development, read.bytes),
      writer,
      signal,
      engine,
      holds: new Set(),
      counts: new Map(),
      conversation: null,
      trace,
      log: gw.log.child({ trace_id: traceId, tenant: tenant.id }),
    };
    trace.understood(exchange.generation, exchange.session !== null);
    try {
      await serve(gw, exchange);
    } finally {
      for (const reservation of exchange.holds) reservation.release();
    }
  }

  private async answerError(
    request: IncomingMessage,
    writer: ResponseWriter,
    headers: Record<string, string>,
    error: unknown,
    traceId: string,
  ): Promise<void> {
    const answer = toGatewayError(error);
    this.gw.metrics.errors.inc({ status: String(answer.status), code: answer.code });
    if (!(error instanceof GatewayError) && !(isEngineError(error) && error.isRefusal)) {
      const level = answer.status === 500 ? "error" : "warn";
      this.gw.log[level]({ err: error, trace_id: traceId }, "a request was answered with an error");
    }
    if (writer.started) return writer.breakOff(answer.body());
    const { detail, status } = answer;
    const last = detail.headers?.connection === "close" ? () => lingerFor(request) : null;
    await writer.json(status, { ...headers, ...detail.headers }, answer.body(), last);
  }
}

const SERVES = { generate: serveGeneration, escalate: serveEscalate, return: serveReturn } as const;

interface Asked {
  request: IncomingMessage;
  path: string;
  writer: ResponseWriter;
  traceId: string;
  signal: AbortSignal;
  tenant: Tenant;
  engine: ServingEngine;
  serve: typeof serveGeneration;
  trace: TraceBuilder;
}

/** A drained node is away for longer than one whose canary is under way. */
function notServing(state: ServingState): GatewayError {
  if (state === "PARKED")
    return noCapacity(
      "This node is parked while a calibration uses the memory of its machine; it serves again when that has ended.",
      30,
    );
  return isDraining(state)
    ? noCapacity("This node is being drained and takes no new requests.", 30)
    : noCapacity("This node takes requests again once its canary has passed.");
}

/** Random as a trace's id has to be; Node makes UUIDs many at a time, which bytes by themselves are not. */
function newTraceId(): string {
  return randomUUID().replaceAll("-", "");
}

/** What is no address at all is a path that leads nowhere. */
function pathOf(url: string): string {
  if (/^\/[a-z0-9/_]+$/.test(url)) return url;
  return URL.canParse(url, "http://gateway") ? new URL(url, "http://gateway").pathname : url;
}

function traceparentOf(request: IncomingMessage): string | null {
  const value = request.headers.traceparent;
  return typeof value === "string" ? value : null;
}

function readSession(request: IncomingMessage): string | null {
  const value = request.headers[GatewayHeader.session];
  if (value === undefined || value === "") return null;
  if (typeof value !== "string" || !/^[\x21-\x7e]{1,200}$/.test(value)) {
    throw badRequest(GatewayHeader.session, "a session is named by 1 to 200 visible ASCII characters.");
  }
  return value;
}

/** One that is nobody's ticket queues as if it were not there. */
function readTicket(request: IncomingMessage): string | null {
  const value = request.headers[GatewayHeader.ticket];
  return typeof value === "string" && value.length <= 64 ? value : null;
}
