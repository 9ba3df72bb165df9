import { accountRouter } from "./account/router";
import { auditRouter } from "./audit/router";
import { calibrationRouter } from "./calibration/router";
import { driftRouter } from "./drift/router";
import { evaluationRouter } from "./evaluation/router";
import { hostRouter, nodeRouter, workerRouter } from "./host/router";
import { invitationRouter } from "./invitation/router";
import { judgeRouter } from "./judge/router";
import { keyRouter } from "./key/router";
import { ladderRouter } from "./ladder/router";
import { mapperRouter } from "./mapper/router";
import { modelRouter } from "./model/router";
import { overviewRouter } from "./overview/router";
import { pairRouter } from "./pair/router";
import { personRouter } from "./person/router";
import { playgroundRouter } from "./playground/router";
import { routeRouter } from "./route/router";
import { sessionRouter } from "./session/router";
import { settingRouter } from "./setting/router";
import { setupRouter } from "./setup/router";
import { snapshotRouter } from "./snapshot/router";
import { tenantRouter } from "./tenant/router";
import { tokenRouter } from "./token/router";
import { trafficRouter } from "./traffic/router";
import { router } from "./trpc/procedure";

export const appRouter = router({
  setup: setupRouter,
  session: sessionRouter,
  account: accountRouter,
  token: tokenRouter,
  person: personRouter,
  invitation: invitationRouter,
  overview: overviewRouter,
  setting: settingRouter,
  route: routeRouter,
  model: modelRouter,
  pair: pairRouter,
  calibration: calibrationRouter,
  mapper: mapperRouter,
  drift: driftRouter,
  evaluation: evaluationRouter,
  judge: judgeRouter,
  ladder: ladderRouter,
  tenant: tenantRouter,
  key: keyRouter,
  host: hostRouter,
  worker: workerRouter,
  node: nodeRouter,
  snapshot: snapshotRouter,
  traffic: trafficRouter,
  playground: playgroundRouter,
  audit: auditRouter,
});

export type AppRouter = typeof appRouter;
