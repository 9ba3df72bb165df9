import { initTRPC } from "@trpc/server";
import superjson from "superjson";
import type { z } from "zod";
import { countBoundedTry } from "../access/bounded-tries";
import { requireScope } from "../access/scopes";
import { atOneMoment } from "../at-one-moment";
import type { Context } from "../context";
import { requireStorable } from "../http/storable";
import { inTransaction } from "../transaction";
import { toHelmError, toTrpcError } from "./errors";

const t = initTRPC.context<Context>().create({
  transformer: superjson,
  errorFormatter: ({ shape, error, ctx }) => {
    const helm = toHelmError(error);
    const hidden = helm.code === "INTERNAL";
    return {
      ...shape,
      message: helm.userMessage,
      data: {
        code: shape.data.code,
        httpStatus: shape.data.httpStatus,
        path: shape.data.path,
        helm: {
          code: helm.code,
          userMessage: helm.userMessage,
          details: hidden ? {} : helm.details,
          requestId: ctx?.requestId ?? "",
        },
      },
    };
  },
});

export const router = t.router;
export const createCallerFactory = t.createCallerFactory;

/** The one place where errors get their shape. `next()` resolves also when the procedure failed. */
const mapErrors = t.middleware(async ({ ctx, path, next }) => {
  const started = performance.now();
  const result = await next();
  const ms = Math.round(performance.now() - started);
  if (result.ok) {
    ctx.log.debug({ path, ms }, "call");
    return result;
  }
  const error = toHelmError(result.error);
  if (error.code === "INTERNAL") ctx.log.error({ path, ms, err: error.cause ?? error }, error.message);
  else ctx.log.info({ path, ms, code: error.code }, error.message);
  throw toTrpcError(error);
});

const authorize = t.middleware(({ ctx, path, next }) => {
  requireScope(ctx.actor, path);
  return next();
});

const storable = t.middleware(async ({ getRawInput, next }) => {
  requireStorable(await getRawInput());
  return next();
});

/** A failed procedure resolves too: throwing here is what rolls the transaction back. */
const transact = t.middleware(({ ctx, next }) =>
  inTransaction(ctx, { audited: true, publish: true }, async (inner) => {
    const result = await next({ ctx: inner });
    if (!result.ok) throw result.error;
    return result;
  }),
);

/** A call that may be tried only so often counts before a transaction opens, whatever its input is. */
const bounded = t.middleware(async ({ ctx, path, next }) => {
  await countBoundedTry(ctx, path);
  return next();
});

const readAtOneMoment = t.middleware(({ ctx, next }) =>
  atOneMoment(ctx, async (inner) => {
    const result = await next({ ctx: inner });
    if (!result.ok) throw result.error;
    return result;
  }),
);

/** Each statement for itself: for what asks one at most, or waits for something other than the database. */
export const plainQuery = t.procedure.use(mapErrors).use(authorize).use(storable);

const read = plainQuery.use(readAtOneMoment);

/** Opens its transaction once the input is read, as `mutation` does. */
export const query = {
  input: <Schema extends z.ZodType>(schema: Schema) => plainQuery.input(schema).use(readAtOneMoment),
  output: read.output,
  query: read.query,
};

const asked = t.procedure.use(mapErrors).use(authorize).use(bounded).use(storable);
const transacted = asked.use(transact);

/**
 * The transaction opens once the input is read: what cannot be valid takes no connection from those who have something to
 * say. The output is read inside it, so a wrong one is rolled back.
 */
export const mutation = {
  input: <Schema extends z.ZodType>(schema: Schema) => asked.input(schema).use(transact),
  output: transacted.output,
  mutation: transacted.mutation,
};
