import { METHODS, type MethodName, optionFlags } from "@helm/contracts";
import { Card, Facts } from "../../ui/card";
import { TimeAgo } from "../preferences/time";
import { ROOM_WORDS } from "./room-words";
import type { Run } from "./use-run-feed";

export function RunFacts({ run }: { run: Run }) {
  return (
    <Card title="What was asked">
      <Facts
        rows={[
          ["Method", <MethodUsed key="m" run={run} />],
          ["Corpus", <CorpusUsed key="c" run={run} />],
          ["Options", optionFlags(run.options).join(" ") || "none"],
          [
            "Device",
            run.developmentOnly
              ? `${run.device} (development: its mapper serves on development nodes only)`
              : run.device,
          ],
          [
            "Room",
            <span key="room">
              {ROOM_WORDS[run.room].name}
              <span className="block text-[0.8125rem] text-ink-soft">{ROOM_WORDS[run.room].sentence}</span>
            </span>,
          ],
          ["Queued", <TimeAgo key="q" at={run.createdAt} />],
          ["Started", <TimeAgo key="s" at={run.startedAt} none="not yet" />],
          ["Ended", <TimeAgo key="e" at={run.finishedAt} none="not yet" />],
          [
            "Mapper",
            run.mapperSha256 ? (
              <code key="m" className="font-mono text-[0.8125rem] break-all" title={run.mapperSha256}>
                {run.mapperSha256}
              </code>
            ) : (
              "none written"
            ),
          ],
        ]}
      />
    </Card>
  );
}

/** Its name with what it is; a run of an older job may name one that is no more. */
function MethodUsed({ run: { method, k } }: { run: Run }) {
  const words = METHODS[method as MethodName] as string | undefined;
  return (
    <>
      {method}, k {k}
      {words ? <span className="block text-[0.8125rem] text-ink-soft">{words}</span> : null}
    </>
  );
}

/** Its name as asked for, and what it was then: names may come to mean other texts. */
function CorpusUsed({ run: { corpus, corpusUsed } }: { run: Run }) {
  const digests = [
    ["sha256", corpusUsed?.sha256],
    ["commit", corpusUsed?.hub?.commit],
    ["before", corpusUsed?.changed_from],
  ] as const;
  return (
    <>
      {corpus}
      {digests.map(([name, digest]) =>
        digest ? (
          <span key={name} className="block text-[0.8125rem] text-ink-soft">
            {name}{" "}
            <code className="font-mono" title={digest}>
              {digest.slice(0, 12)}
            </code>
          </span>
        ) : null,
      )}
    </>
  );
}
