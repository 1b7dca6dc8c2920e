// The time until edits are answered, one zone per transaction, while a server is under load.

import type { BenchOptions } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { type LoadOptions, measure } from '../rounds.ts';
import { say } from '../say.ts';
import type { RunningServer } from '../servers/server.ts';
import { percentile } from '../statistics.ts';
import type { EditWriter } from './edit-records.ts';
import { EditStream, type StreamResult } from './edit-stream.ts';
import { AnswerWatch } from './watch-answers.ts';

/** Seconds of single edits; a run of the load takes as long. */
const VISIBLE_SECONDS = 20;

/** Name and address of the n-th edit. Both have a trailing dot. */
export type EditTarget = (n: number) => { zone: string; owner: string };

export interface TimedEdits {
  readonly writer: EditWriter;
  readonly perSecond: number;
  readonly target: EditTarget;
  readonly atOnce?: number;
}

export async function timeEdits(
  server: RunningServer,
  load: LoadOptions,
  { writer, perSecond, target, atOnce = 1 }: TimedEdits,
  options: BenchOptions,
): Promise<StreamResult> {
  const seconds = Math.min(VISIBLE_SECONDS, options.seconds * 7);
  say(`  ${perSecond} single edits per second for ${seconds} s`);
  const watch = await AnswerWatch.open(server.address, server.port);
  try {
    const stream = new EditStream({
      writer,
      atOnce,
      target,
      transactionsPerSecond: perSecond,
      editsEach: 1,
      watch,
    });
    await measure(server, { ...load, seconds, withLatency: false }, options);
    const result = await stream.stop();
    await untilSeen(watch);
    return result;
  } finally {
    watch.close();
  }
}

/** An edit that is never answered counts as lost, not as slow. */
async function untilSeen(watch: AnswerWatch): Promise<void> {
  const deadline = performance.now() + 10_000;
  while (watch.waiting > 0) {
    if (performance.now() > deadline) throw new Error(`${watch.waiting} edits are not answered after 10 s`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

export function visibleTable(rows: readonly (readonly [string, StreamResult, number])[]): string {
  return table(
    ['', 'edits', 'p50 ms', 'p99 ms', 'slowest ms', 'p99 ms since the commit'],
    rows.map(([label, { edits: made, sinceSentMs, sinceCommitMs }, limitMs]) => [
      label,
      count(made),
      fixed(percentile(sinceSentMs, 0.5), 1),
      judged(percentile(sinceSentMs, 0.99), limitMs, 1),
      fixed(Math.max(...sinceSentMs), 1),
      fixed(percentile(sinceCommitMs, 0.99), 1),
    ]),
  );
}
