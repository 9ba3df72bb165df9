import type { Command } from "commander";
import type { AddVerb } from "../../verb";
import { exportMapper } from "./export";
import { importMapper } from "./import";
import { deleteMapperFile, mapperStorage } from "./storage";

const textOf = (value: string | boolean | undefined) => (typeof value === "string" ? value : undefined);

/** The files of mappers: beside the verbs of the mappers themselves, where those are there. */
export function addArtifacts(helm: Command, verb: AddVerb): void {
  const mapper =
    helm.commands.find((one) => one.name() === "mapper") ??
    helm.command("mapper").description("what calibrations write");
  verb(mapper, "export <mapper>", "its file with its manifest, by id or digest", (c, [id = ""], o) =>
    exportMapper(c, id, textOf(o.out)),
  ).option("--out <file>", "where it goes (default: <digest>.safetensors here); a cut one goes on");
  verb(
    mapper,
    "import <file>",
    "record a run that was calibrated on a host without the server, e.g. with calibrate --local",
    (c, [file = ""]) => importMapper(c, file),
  );
  verb(mapper, "storage", "what lies in the store, and what could go", (c) => mapperStorage(c));
  verb(
    mapper,
    "delete-file <mapper>",
    "free the space of a retired mapper; its scores stay",
    (c, [id = ""]) => deleteMapperFile(c, id),
  );
}
