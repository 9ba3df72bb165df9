import { TraceText } from "@helm/contracts";
import { mutation, query, router } from "../trpc/procedure";
import { AgreementOutput, readAgreement } from "./agreement";
import { LengthsOutput, readLengths } from "./lengths";
import { QualityOutput, readQuality } from "./quality";
import { TrafficInput } from "./range";
import { readTraceText } from "./read-text";
import { ReasonsOutput, readReasons } from "./reasons";
import { listRequests, RequestsInput, RequestsOutput } from "./requests";
import { readSeries, SeriesOutput } from "./series";
import { SummaryOutput, summariseTraffic } from "./summary";
import { readTrace, TraceInput, TraceOutput } from "./trace";

export const trafficRouter = router({
  summary: query.input(TrafficInput).output(SummaryOutput).query(summariseTraffic),
  series: query.input(TrafficInput).output(SeriesOutput).query(readSeries),
  reasons: query.input(TrafficInput).output(ReasonsOutput).query(readReasons),
  lengths: query.input(TrafficInput).output(LengthsOutput).query(readLengths),
  agreement: query.input(TrafficInput).output(AgreementOutput).query(readAgreement),
  quality: query.input(TrafficInput).output(QualityOutput).query(readQuality),
  requests: query.input(RequestsInput).output(RequestsOutput).query(listRequests),
  trace: query.input(TraceInput).output(TraceOutput).query(readTrace),
  text: mutation.input(TraceInput).output(TraceText).mutation(readTraceText),
});
