import type { Endpoint } from "../http/endpoint";
import { download } from "./download";
import { personUpload, personUploadOffset } from "./person-upload";
import { workerUpload, workerUploadOffset } from "./worker-upload";

const OF_WORKERS = "/api/worker/artifacts/:sha256";
const OF_PEOPLE = "/api/artifacts/:sha256";

export const artifactEndpoints: Endpoint[] = [
  { method: "HEAD", path: OF_WORKERS, caller: "worker", handle: workerUploadOffset },
  { method: "PATCH", path: OF_WORKERS, caller: "worker", upload: true, handle: workerUpload },
  { method: "GET", path: "/api/node/artifacts/:sha256", caller: "node", handle: download },
  { method: "HEAD", path: OF_PEOPLE, caller: "person", role: "admin", handle: personUploadOffset },
  { method: "PATCH", path: OF_PEOPLE, caller: "person", role: "admin", upload: true, handle: personUpload },
  { method: "GET", path: `${OF_PEOPLE}/file`, caller: "person", role: "viewer", handle: download },
];
