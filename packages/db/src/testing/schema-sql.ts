import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { PrismaPg } from "@prisma/adapter-pg";
import { bindMigrationAwareSqlAdapterFactory } from "@prisma/driver-adapter-utils";

type Engine = typeof import("@prisma/schema-engine-wasm/schema_engine_bg") & {
  __wbg_set_wasm(exports: unknown): void;
};

/** The SQL that makes an empty database into what `schema.prisma` says, from Prisma's own engine as WebAssembly. */
export async function sqlOfSchema(schemaFile: string, databaseUrl: string): Promise<string> {
  const engine = await loadEngine();
  const adapter = bindMigrationAwareSqlAdapterFactory(new PrismaPg({ connectionString: databaseUrl }));
  const schemaEngine = await engine.SchemaEngine.new({ datamodels: undefined }, () => {}, adapter);
  const file = { path: schemaFile, content: await readFile(schemaFile, "utf8") };
  const result = await schemaEngine.diff({
    from: { tag: "empty" },
    to: { tag: "schemaDatamodel", files: [file] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  if (!result.stdout) throw new Error("Prisma's schema engine gave no SQL");
  return result.stdout;
}

// The package expects a bundler that imports .wasm; Node loads the file by hand.
async function loadEngine(): Promise<Engine> {
  const folder = dirname(
    createRequire(import.meta.url).resolve("@prisma/schema-engine-wasm/schema_engine_bg"),
  );
  const glue = (await import("@prisma/schema-engine-wasm/schema_engine_bg")) as unknown as Engine;
  const module = await WebAssembly.compile(await readFile(join(folder, "schema_engine_bg.wasm")));
  const imports = { "./schema_engine_bg.js": glue as unknown as WebAssembly.ModuleImports };
  const instance = await WebAssembly.instantiate(module, imports);
  glue.__wbg_set_wasm(instance.exports);
  (instance.exports.__wbindgen_start as () => void)();
  return glue;
}
