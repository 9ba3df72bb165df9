// The cost of a decision at the door, with few and with many in the queue, interleaved. Prints Markdown; the machine's line is the caller's.
import { type Block, DecisionRig } from "./decision";

const [FEW, MANY] = [10, 10_000] as const;
const BLOCKS = 40;
const SIZE = 150;
const AIM = { ratio: 3, p99: 50 };

const few = new DecisionRig(FEW);
const many = new DecisionRig(MANY);
await few.fill();
await many.fill();
// Compiled and warm before anything counts.
await few.block(600);
await many.block(600);
const blocks: { few: Block; many: Block }[] = [];
for (let n = 0; n < BLOCKS; n++) {
  const first = n % 2 === 0;
  const one = await (first ? few : many).block(SIZE);
  const other = await (first ? many : few).block(SIZE);
  blocks.push(first ? { few: one, many: other } : { few: other, many: one });
}

const rows = (["queue", "grant", "refuse"] as const).map((kind) => {
  const of = (which: "few" | "many") => blocks.map((block) => block[which][kind]);
  const ratio = interval(blocks, (drawn) => {
    const median = (which: "few" | "many") =>
      quantile(
        drawn.flatMap((block) => block[which][kind]),
        0.5,
      );
    return median("many") / median("few");
  });
  return { kind, few: of("few").flat(), many: of("many").flat(), ratio };
});

const words = {
  queue: "one comes and queues",
  grant: "one ends, the next is let in",
  refuse: "one comes and is refused",
};
const us = (value: number) => value.toFixed(1);
console.log(`# Admission

Made by \`npm run bench:admission -- --write\`. A decision is timed by itself, ${BLOCKS} blocks of ${SIZE} with ${FEW} and with ${MANY.toLocaleString("en")}
in the queue, of 16 tenants, interleaved. The ratio is of medians, with 95 % from drawing whole blocks again. Aims: at most ${AIM.ratio}
times, p99 under ${AIM.p99} µs.

| decision | ${FEW} waiting: p50, p99 (µs) | ${MANY.toLocaleString("en")} waiting: p50, p99 (µs) | ratio | aims |
| --- | --- | --- | --- | --- |`);
for (const { kind, few, many, ratio } of rows) {
  const p99 = quantile(many, 0.99);
  const met = ratio.value <= AIM.ratio && p99 < AIM.p99 ? "met" : "not met";
  console.log(
    `| ${words[kind]} | ${us(quantile(few, 0.5))}, ${us(quantile(few, 0.99))} | ${us(quantile(many, 0.5))}, ${us(p99)} | ${ratio.value.toFixed(2)} [${ratio.low.toFixed(2)}, ${ratio.high.toFixed(2)}] | ${met} |`,
  );
}
process.exit(0);

function quantile(values: number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN;
}

function interval<T>(blocks: T[], figure: (drawn: T[]) => number) {
  let state = 7;
  const random = () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
  const draws = Array.from({ length: 400 }, () =>
    figure(blocks.map(() => blocks[Math.floor(random() * blocks.length)] as T)),
  );
  return { value: figure(blocks), low: quantile(draws, 0.025), high: quantile(draws, 0.975) };
}
