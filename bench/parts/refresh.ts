// Signatures renewed eight days later, as by a worker and including Postgres: of many small zones that are due at the same
// time, and of a large one.

import { monitorEventLoopDelay } from 'node:perf_hooks';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { OPERATOR_LIMITS } from '../../src/store/postgres/deadlines.ts';
import { atLater } from '../../test/support/database/database-clock.ts';
import { useSecrets } from '../../test/support/database/signed-zones.ts';
import { type SigningOutcome, signZones } from '../../workers/rounds/sign-zones.ts';
import { SigningBreaker } from '../../workers/rounds/signing-breaker.ts';
import { makeSignedDomains } from '../edits/signed-domains.ts';
import type { Part } from '../part.ts';
import { runOn } from '../postgres/cluster.ts';
import { cpuUsed } from '../postgres/cpu-used.ts';
import { atLeast, count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';

const DOMAINS = 1000;
const LARGE_NAMES = 20_000;
const DAYS = 8;
const LEAST_PER_SECOND = 3000;
const MOST_LATE_MS = 50;
const RESOLUTION_MS = 2;
const POLL_MS = 50;
const TIMEOUT_MS = 600_000;

interface Refreshed {
  readonly zones: number;
  readonly signatures: number;
  readonly seconds: number;
  /** Of the worker and of Postgres. */
  readonly cpuSeconds: number;
  /** The longest delay of the worker's event loop. */
  readonly lateMs: number;
}

export const refresh: Part = {
  names: ['refresh'],
  async run(options) {
    const domains = Math.min(options.zones ?? DOMAINS, DOMAINS);
    const names = domains * (LARGE_NAMES / DOMAINS);
    const small = await refreshAll((await makeSignedDomains(domains, 0)).url);
    const large = await refreshAll((await makeSignedDomains(0, names)).url);
    const row = (label: string, { zones, signatures, seconds, cpuSeconds, lateMs }: Refreshed) => [
      label,
      count(zones),
      count(signatures),
      fixed(seconds, 1),
      fixed(cpuSeconds, 1),
      count(signatures / cpuSeconds),
      `${count(signatures / seconds)}: ${atLeast(signatures / seconds / LEAST_PER_SECOND, 1)} of ${count(LEAST_PER_SECOND)}`,
      judged(lateMs, MOST_LATE_MS, 0),
    ];
    return [
      {
        part: 'refresh',
        title: 'Renewed signatures',
        blocks: [
          'One worker and Postgres share the cores; CPU is that of both. All zones are due. Each is read, signed and written with a new serial. One in eight is read again and verified while more zones are due than one round processes. For the large zone, all denials and one in eight signatures are verified.',
          table(
            [
              '',
              'zones',
              'signatures',
              's',
              'CPU s',
              'signatures per CPU s',
              'signatures per second',
              'longest delay of the event loop, ms',
            ],
            [row('small zones', small), row(`one zone of ${count(names)} names`, large)],
          ),
        ],
        charts: [],
      },
    ];
  },
};

/** Refreshes signatures until none is due. */
async function refreshAll(url: string): Promise<Refreshed> {
  const now = openDatabase(url, { limits: OPERATOR_LIMITS });
  const db = await atLater({ db: now, url }, DAYS);
  useSecrets(db);
  const outcomes: SigningOutcome[] = [];
  const troubles: unknown[] = [];
  const onTrouble = (error: unknown) => troubles.push(error);
  const onFault = ({ zone, faults }: { zone: string; faults: readonly string[] }) =>
    troubles.push(new Error(`${zone} ${faults[0]}`));
  const breaker = new SigningBreaker({ db, onFault, onOpen: () => {}, onTrouble });
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  const usedBefore = await cpuUsed();
  const startedMs = performance.now();
  const running = signZones({ db, breaker, onOutcome: (outcome) => outcomes.push(outcome), onTrouble });
  try {
    const due = await countDue(url);
    const isOver = () => outcomes.length >= due || performance.now() - startedMs > TIMEOUT_MS;
    while (!isOver() && troubles.length === 0) await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    const seconds = (performance.now() - startedMs) / 1000;
    if (troubles.length > 0) throw troubles[0];
    let signatures = 0;
    for (const outcome of outcomes) {
      if (outcome.kind !== 'refreshed') throw new Error(`${outcome.zone}: ${outcome.kind}`);
      signatures += outcome.made;
    }
    if (outcomes.length < due) throw new Error(`${outcomes.length} of ${due} zones in time`);
    say(`${outcomes.length} zones, ${signatures} signatures in ${seconds.toFixed(1)} s`);
    const cpuSeconds = (await cpuUsed()) - usedBefore;
    const lateMs = Math.max(0, delay.max / 1e6 - RESOLUTION_MS);
    return { zones: outcomes.length, signatures, seconds, cpuSeconds, lateMs };
  } finally {
    delay.disable();
    await running.stop();
    await db.destroy();
    await now.destroy();
  }
}

async function countDue(url: string): Promise<number> {
  const [row] = await runOn(
    url,
    `select count(*)::integer as due from signed_zones where resign_at <= clock_timestamp() + interval '${DAYS} days'`,
  );
  return row?.due as number;
}
