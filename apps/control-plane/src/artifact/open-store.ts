import type { Config } from "../config";
import { DirectoryStore } from "./directory-store";
import { S3Store } from "./s3-store";
import type { ArtifactStore } from "./store";

export function openStore(config: Config): ArtifactStore {
  if (config.s3) return new S3Store(config.s3);
  return new DirectoryStore({ directory: config.artifactDir, reserveBytes: config.artifactReserveBytes });
}
