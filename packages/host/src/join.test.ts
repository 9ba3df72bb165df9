import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { z } from "zod";
import { HostClient } from "./host-client";
import { joinOnce } from "./join";
import { serve, temporaryFolder } from "./testing";

const request = {
  kind: "worker" as const,
  name: "w",
  version: "1",
  device: "cpu" as const,
  hardware: "none" as const,
  devices: [],
};

it("joins once, keeps the credential for its owner alone and uses it afterwards", async () => {
  let joins = 0;
  const url = await serve((_request, response) => {
    joins++;
    response.end(JSON.stringify({ id: "h1", credential: "c1", signing_key: "k" }));
  });
  const stateDir = join(await temporaryFolder(), "worker");
  const first = await joinOnce({ controlUrl: url, stateDir, joinToken: "t", request });
  const second = await joinOnce({ controlUrl: url, stateDir, request });
  expect(second).toEqual(first);
  expect(joins).toBe(1);
  expect((await stat(join(stateDir, "identity.json"))).mode & 0o777).toBe(0o600);
});

it("says what to do without a token, with a used one, and with a broken file", async () => {
  const url = await serve((_request, response) => {
    response.writeHead(401, { "content-type": "application/json" });
    response.end(JSON.stringify({ error: { code: "TOKEN_INVALID", message: "This join token was used." } }));
  });
  const stateDir = await temporaryFolder();
  await expect(joinOnce({ controlUrl: url, stateDir, request })).rejects.toThrow(/HELM_JOIN_TOKEN/);
  await expect(joinOnce({ controlUrl: url, stateDir, joinToken: "t", request })).rejects.toMatchObject({
    status: 401,
    code: "TOKEN_INVALID",
    retriable: false,
  });
  await writeFile(join(stateDir, "identity.json"), "{");
  await expect(joinOnce({ controlUrl: url, stateDir, request })).rejects.toThrow(/join again/);
});

it("tells an absent control plane from one that breaks the protocol", async () => {
  const away = new HostClient({ controlUrl: "http://127.0.0.1:9" });
  await expect(away.call("GET", "/x", z.unknown())).rejects.toMatchObject({ status: 0, retriable: true });
  const url = await serve((_request, response) => response.end("hello"));
  const client = new HostClient({ controlUrl: url });
  await expect(client.call("GET", "/x", z.object({}))).rejects.toMatchObject({ code: "PROTOCOL" });
});
