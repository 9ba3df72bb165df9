import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { HelmError, MOST_CALLS_A_REQUEST } from "@helm/contracts";
import { createHTTPHandler } from "@trpc/server/adapters/standalone";
import { toNodeHandler } from "better-auth/node";
import { retryAfter } from "../access/rate-limit";
import { requireRole } from "../access/scopes";
import type { Auth } from "../auth/auth";
import { readCaller } from "../auth/caller";
import { ADDRESS_HEADER, REQUEST_ID_HEADER } from "../auth/own-headers";
import { signIn } from "../auth/sign-in";
import type { Context, Services } from "../context";
import { requireDatabase } from "../health/database";
import { authenticateHost, bearerOf } from "../host/authenticate";
import { appRouter } from "../router";
import { outsideTransaction } from "../transaction";
import { toHelmError, toTrpcError } from "../trpc/errors";
import { guardAuthDoor, SIGN_IN_PATH } from "./auth-door";
import { boundBody } from "./bound-body";
import { callerAddress, toHeaders } from "./caller";
import { type Endpoint, matchEndpoint } from "./endpoint";
import { requireOwnOrigin } from "./origin";
import { sendError, setSecurityHeaders } from "./respond";

const TRPC_BODY_BYTES = 256 * 1024;
const DRAIN_MS = 5_000;

interface Request extends IncomingMessage {
  requestId: string;
  address: string;
}

export function createHandler(services: Services, auth: Auth, endpoints: Endpoint[]) {
  const trpc = createHTTPHandler({
    router: appRouter,
    basePath: "/trpc/",
    maxBodySize: TRPC_BODY_BYTES,
    createContext: async ({ req }) => {
      const { requestId, address } = req as Request;
      const actor = await readCaller(services, auth, toHeaders(req), address).catch((error: unknown) => {
        throw toTrpcError(toHelmError(error));
      });
      return contextFor(services, requestId, address, actor);
    },
    responseMeta: ({ errors }) => {
      const wait = errors.map((error) => retryAfter(toHelmError(error))).find((one) => one !== null);
      return wait ? { headers: { "retry-after": wait } } : {};
    },
    onError: () => {},
  });
  const authHandler = toNodeHandler(async (request: globalThis.Request) => {
    const isSignIn = new URL(request.url).pathname.endsWith(SIGN_IN_PATH);
    const response = await (isSignIn ? signIn(services, auth, request) : auth.handler(request));
    // The library hides why it failed, and calls a sign-out done that ended nothing: a database that is away is told of.
    await requireDatabase(services);
    return response;
  });

  return (incoming: IncomingMessage, res: ServerResponse): void => {
    const req = incoming as Request;
    req.requestId = randomUUID();
    req.address = callerAddress(req, services.config);
    setSecurityHeaders(res);
    res.setHeader("x-request-id", req.requestId);
    const found = matchEndpoint(endpoints, req.method ?? "GET", pathOf(req));
    boundBody(req, res, services.config, found?.endpoint.upload === true);
    dispatch(req, res).catch((thrown: unknown) => {
      if (req.destroyed && !req.complete) {
        services.log.info({ requestId: req.requestId, path: pathOf(req) }, "the caller went away");
        return res.destroy();
      }
      const error = toHelmError(thrown);
      const fields = { requestId: req.requestId, path: pathOf(req), code: error.code };
      if (error.code === "INTERNAL")
        services.log.error({ ...fields, err: error.cause ?? error }, error.message);
      else services.log.info(fields, error.message);
      if (!req.complete) drain(req, res);
      sendError(res, error, req.requestId);
    });
  };

  async function dispatch(req: Request, res: ServerResponse): Promise<void> {
    const url = new URL(req.url ?? "/", "http://control-plane");
    if (url.pathname.startsWith("/trpc/")) {
      requireOwnOrigin(req, services.config.origins);
      requireSmallBatch(url.pathname);
      return trpc(req, res);
    }
    if (url.pathname.startsWith("/api/auth/")) {
      requireOwnOrigin(req, services.config.origins);
      await guardAuthDoor(services, req, url.pathname, req.address);
      req.headers[ADDRESS_HEADER] = req.address;
      req.headers[REQUEST_ID_HEADER] = req.requestId;
      return authHandler(req, res);
    }
    const found = matchEndpoint(endpoints, req.method ?? "GET", url.pathname);
    if (!found) throw new HelmError("NOT_FOUND", "There is nothing at this address.");
    const ctx = await endpointContext(req, found.endpoint);
    await found.endpoint.handle({ req, res, ctx, params: found.params, url });
  }

  async function endpointContext(req: Request, endpoint: Endpoint): Promise<Context> {
    if (endpoint.caller === "public")
      return contextFor(services, req.requestId, req.address, { kind: "anonymous" });
    if (endpoint.caller === "person") {
      requireOwnOrigin(req, services.config.origins);
      const actor = await readCaller(services, auth, toHeaders(req), req.address);
      requireRole(actor, endpoint.role ?? "admin");
      return contextFor(services, req.requestId, req.address, actor);
    }
    const host = await authenticateHost(services.db, bearerOf(req.headers.authorization), endpoint.caller);
    return contextFor(services, req.requestId, req.address, host);
  }
}

/** Who is refused in the middle of a body reads why only once he stops sending; he gets a moment for it. */
function drain(req: IncomingMessage, res: ServerResponse): void {
  if (!res.headersSent) res.setHeader("connection", "close");
  req.resume();
  res.once("finish", () => setTimeout(() => req.socket.destroy(), DRAIN_MS).unref());
}

function contextFor(
  services: Services,
  requestId: string,
  address: string,
  actor: Context["actor"],
): Context {
  return outsideTransaction({ services, actor, requestId, address, log: services.log.child({ requestId }) });
}

function pathOf(req: IncomingMessage): string {
  return (req.url ?? "").split("?")[0] ?? "";
}

/** Clients send at most so many calls together; one request must not hold everybody's connections to the database. */
function requireSmallBatch(path: string): void {
  const calls = path.replaceAll(/%2c/gi, ",").split(",").length;
  if (calls <= MOST_CALLS_A_REQUEST) return;
  const sentence = `One request may make ${MOST_CALLS_A_REQUEST} calls; this one makes ${calls}. Send them apart.`;
  throw new HelmError("BAD_REQUEST", sentence, { calls, most: MOST_CALLS_A_REQUEST });
}
