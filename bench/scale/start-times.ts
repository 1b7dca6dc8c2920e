// Time of a node until its first answer: from Postgres, from its snapshot with and without cached pages, and after kill -9.

import { setTimeout as pause } from 'node:timers/promises';
import { say } from '../say.ts';
import { makeDirectory } from '../servers/server.ts';
import { type RunningZonefleet, startZonefleet, type ZonefleetOptions } from '../servers/zonefleet.ts';
import { forgetPages, untilSnapshotWritten } from './snapshot-files.ts';

export interface StartTimes {
  /** Duration of each start by the source of the zones. */
  readonly fromPostgresMs: number;
  readonly warmMs: readonly number[];
  readonly coldMs: readonly number[];
  /** From `kill -9` of a node that answers until the first answer of its replacement. */
  readonly killedMs: readonly number[];
  readonly snapshotBytes: number | undefined;
}

const SNAPSHOT_TIMEOUT_MS = 120_000;
/** Time in which a started node checks its snapshot and reads the feed. */
const SETTLE_MS = 5000;

/** The node that was started last still runs at the end. */
export async function startTimed(
  options: ZonefleetOptions,
  restarts: number,
): Promise<{ node: RunningZonefleet; times: StartTimes }> {
  const directory = makeDirectory('node');
  const start = () => startZonefleet({ ...options, dataDirectory: directory.path });
  let node = await start();
  const fromPostgresMs = node.firstAnswerMs;
  say(`from Postgres: first answer after ${(fromPostgresMs / 1000).toFixed(1)} s`);
  const times = { fromPostgresMs, warmMs: [] as number[], coldMs: [] as number[], killedMs: [] as number[] };
  if (restarts === 0) return { node, times: { ...times, snapshotBytes: undefined } };
  const snapshotBytes = await untilSnapshotWritten(directory.path, SNAPSHOT_TIMEOUT_MS);
  if (snapshotBytes === undefined) {
    say('no snapshot has been written');
    return { node, times: { ...times, snapshotBytes } };
  }
  for (let i = 0; i < restarts; i++) {
    for (const kind of ['cold', 'warm'] as const) {
      await node.stop();
      if (kind === 'cold') await forgetPages(directory.path);
      node = await start();
      times[kind === 'cold' ? 'coldMs' : 'warmMs'].push(node.firstAnswerMs);
      say(`from the snapshot, ${kind}: first answer after ${(node.firstAnswerMs / 1000).toFixed(2)} s`);
    }
  }
  for (let i = 0; i < restarts; i++) {
    await pause(SETTLE_MS);
    const killedMs = performance.now();
    node.program.child.kill('SIGKILL');
    await node.program.ended;
    node = await start();
    times.killedMs.push(node.startedMs + node.firstAnswerMs - killedMs);
    say(`after kill -9: first answer after ${((times.killedMs.at(-1) ?? 0) / 1000).toFixed(2)} s`);
  }
  return { node, times: { ...times, snapshotBytes } };
}

/** Stops the node afterwards. */
export async function timeStarts(options: ZonefleetOptions, restarts: number): Promise<StartTimes> {
  const { node, times } = await startTimed(options, restarts);
  await node.stop();
  return times;
}
