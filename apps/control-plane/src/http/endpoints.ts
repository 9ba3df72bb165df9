import { artifactEndpoints } from "../artifact/endpoints";
import { workerEndpoints } from "../calibration/endpoints";
import { hostEndpoints } from "../host/endpoints";
import type { Endpoint } from "./endpoint";

/** Everything over HTTP that is no procedure and no page of health; audited.test.ts knows what each of them writes. */
export const ENDPOINTS: Endpoint[] = [...hostEndpoints, ...workerEndpoints, ...artifactEndpoints];
