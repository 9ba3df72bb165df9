import { JoinRequest } from "@helm/contracts";
import { addressBlock } from "../access/address-block";
import { countTry } from "../access/rate-limit";
import { readJson } from "../http/body";
import type { Endpoint } from "../http/endpoint";
import { sendJson } from "../http/respond";
import { inTransaction } from "../transaction";
import { joinHost } from "./join";

export const hostEndpoints: Endpoint[] = [
  {
    method: "POST",
    path: "/api/hosts/join",
    caller: "public",
    handle: async ({ req, res, ctx }) => {
      await countTry(ctx.services.db, `join:${addressBlock(ctx.address)}`, { max: 60, windowMs: 60_000 });
      const input = await readJson(req, JoinRequest, 64 * 1024);
      // A development node that joins is one more that CPU-made mappers may be on.
      const joined = await inTransaction(ctx, { audited: true, publish: true }, (inner) =>
        joinHost({ ctx: inner, input }),
      );
      sendJson(res, 200, joined);
    },
  },
];
