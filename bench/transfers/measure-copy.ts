// The workers as a secondary: the first transfer of a zone from NSD, and incremental ones from Zonefleet.

import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { addSecondary } from '../../src/features/secondaries/sql-manage.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { startWorker } from '../checks/worker.ts';
import type { BenchOptions } from '../part.ts';
import { benchCluster, runOn } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { cpuSeconds } from '../process-tree.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';
import type { OneZone } from '../zones/one-zone.ts';
import { apexOf, type HostEdits } from './host-edits.ts';
import { addPrimary, removePeers } from './peers.ts';

const SINGLE_EDITS = 20;
const POLL_MS = 20;
const WAIT_MS = 600_000;

interface Refresh {
  readonly seconds: number;
  /** Processor time of the workers and Postgres. */
  readonly cpuSeconds: number;
  readonly form: string;
}

export interface MeasuredCopy {
  readonly whole: Refresh;
  /** Resident memory of the workers. */
  readonly residentBytes: number;
  /** Medians of the single edits. */
  readonly single: Omit<Refresh, 'form'>;
}

interface Primaries {
  /** Ports of 127.0.0.1. */
  readonly whole: number;
  readonly edited: number;
}

export async function measureCopy(
  zone: OneZone,
  primaries: Primaries,
  edited: HostEdits,
  options: BenchOptions,
): Promise<MeasuredCopy> {
  const url = await zonefleetDatabase({ name: 'copies', zones: [], records: 0 });
  await removePeers(url);
  await runOn(url, `delete from zones`);
  const db = openDatabase(url); // a connection for every poll would cost more than a transfer
  const worker = await startWorker({ databaseUrl: url }, { ...options, serverCpu: undefined });
  const { pid: postgres } = await benchCluster();
  const cpu = () => cpuSeconds(worker.pid) + cpuSeconds(postgres);
  const refresh = async (start: () => Promise<unknown>): Promise<Refresh> => {
    const [startedMs, cpuBefore] = [performance.now(), cpu()];
    const before = await stateOf(db);
    await start();
    for (;;) {
      const { seq, error, form, serial } = await stateOf(db);
      if (error !== null) throw new Error(`the zone is not copied: ${error}`);
      const seconds = (performance.now() - startedMs) / 1000;
      if (serial !== null && seq > before.seq) return { seconds, cpuSeconds: cpu() - cpuBefore, form };
      if (seconds * 1000 > WAIT_MS) throw new Error(`the zone is not copied after ${seconds} s`);
      await pause(POLL_MS);
    }
  };
  try {
    await addPrimary(db, 'whole', primaries.whole);
    const other = await addPrimary(db, 'edited', primaries.edited);
    const first = await refresh(() =>
      addSecondary(db, { zone: apexOf(zone), from: ['whole'], maxRecords: null }),
    );
    const residentBytes = peakBytes(worker.pid);
    say(
      `  the whole zone: ${first.seconds.toFixed(1)} s, CPU ${first.cpuSeconds.toFixed(1)} s, ` +
        `${Math.round(residentBytes / 2 ** 20)} MiB`,
    );
    const due = () =>
      sql`update secondaries set peers = ${[other]}::bigint[], due_at = clock_timestamp()`.execute(db);
    await refresh(due); // the edits that NSD does not have
    const singles: Refresh[] = [];
    for (let n = 0; n < SINGLE_EDITS; n++) {
      await edited.editUntilAnswered(n, primaries.edited);
      const one = await refresh(due);
      if (one.form !== 'ixfr') throw new Error('a single edit was not transferred by IXFR');
      singles.push(one);
    }
    const of = (key: 'seconds' | 'cpuSeconds') => median(singles.map((one) => one[key]));
    return {
      whole: first,
      residentBytes,
      single: { seconds: of('seconds'), cpuSeconds: of('cpuSeconds') },
    };
  } finally {
    await worker.stop();
    await db.destroy();
  }
}

interface State {
  readonly seq: number;
  readonly serial: number | null;
  readonly form: string;
  readonly error: string | null;
}

async function stateOf(db: Database): Promise<State> {
  const { rows } = await sql<State>`
    select seq::integer, serial, form, last_error || ': ' || last_message as error from secondaries`.execute(
    db,
  );
  return rows[0] ?? { seq: 0, serial: null, form: '', error: null };
}

/** Largest resident memory of a process since its start. */
function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024;
}
