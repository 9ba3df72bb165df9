import { query, router } from "../trpc/procedure";
import { summariseTraffic, TrafficInput, TrafficOutput } from "./summary";

export const trafficRouter = router({
  summary: query.input(TrafficInput).output(TrafficOutput).query(summariseTraffic),
});
