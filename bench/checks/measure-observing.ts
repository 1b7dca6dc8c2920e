// Number of delegations that one process observes and evaluates per second, compared with dig +trace, alternately on the
// same core.

import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { BenchOptions } from '../part.ts';
import { runProgram } from '../program.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { versionOf } from '../servers/installed.ts';
import { median } from '../statistics.ts';
import { type Traced, traceWithDig } from './dig-trace.ts';
import type { Parents } from './start-parents.ts';
import { wantedAtLeast } from './wanted.ts';

export interface Order {
  /** Index of the first name. No name is observed twice. */
  readonly first: number;
  readonly seconds: number;
  readonly concurrency: number;
  /** Queries per second to one address. */
  readonly perSecond: number;
}

export interface Observed {
  readonly checks: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
  readonly packets: { readonly median: number; readonly p99: number };
  readonly millis: { readonly median: number; readonly p99: number };
  /** Number of checks whose verdict is not `match`. */
  readonly others: number;
}

const PROGRAM = fileURLToPath(new URL('./observing-process.ts', import.meta.url));
/** Defaults of CHECK_CONCURRENCY and of the queries per second to one address. */
const [CONCURRENCY, PER_SECOND] = [200, 50];
const UNLIMITED = 1_000_000;
const DIGS_AT_ONCE = 16;
/** Number of checks that it roughly makes in a run. */
const DIGS_PER_SECOND = 50;
/** Longer than a burst that a limit allows. */
const LEAST_SECONDS = 5;
const NAMES_PER_RUN = 1_000_000;

export async function measureObserving(parents: Parents, options: BenchOptions): Promise<string> {
  const command = [process.execPath, '--import', 'tsx', PROGRAM, String(parents.port), parents.hintsFile];
  const program = runProgram(command, { cpu: options.serverCpu, ipc: true });
  const ended = program.ended.then((code) => {
    throw new Error(`the checking process ended with ${code}:\n${program.output()}`);
  });
  ended.catch(() => {});
  const message = () => Promise.race([once(program.child, 'message'), ended]);
  await message();
  let runs = 0;
  const observe = async (seconds: number, perSecond: number): Promise<Observed> => {
    const answer = message();
    program.child.send({ first: runs++ * NAMES_PER_RUN, seconds, concurrency: CONCURRENCY, perSecond });
    const observed = (await answer)[0] as Observed;
    if (observed.others > 0) throw new Error(`${observed.others} of ${observed.checks} checks did not match`);
    return observed;
  };
  const seconds = Math.max(LEAST_SECONDS, options.seconds);
  const [limited, unlimited, traced]: [Observed[], Observed[], Traced[]] = [[], [], []];
  const hasDig = versionOf(['dig', '-v'], /DiG (\S+?)-/) !== undefined;
  if (!hasDig) say('  dig is not installed: skipped');
  try {
    await observe(seconds, UNLIMITED);
    for (let round = 1; round <= options.rounds; round++) {
      limited.push(await observe(seconds, PER_SECOND));
      unlimited.push(await observe(seconds, UNLIMITED));
      if (hasDig) {
        const first = runs++ * NAMES_PER_RUN;
        const order = { first, names: seconds * DIGS_PER_SECOND, atOnce: DIGS_AT_ONCE, port: parents.port };
        traced.push(await traceWithDig(order, options));
      }
      const each = [limited, unlimited, traced]
        .map((list) => list.at(-1))
        .map((run) => run && perSecondOf(run));
      say(
        `  round ${round} of ${options.rounds}: ${each.map((rate) => Math.round(rate ?? 0)).join(', ')} checks/s`,
      );
    }
  } finally {
    await program.stop();
  }
  return observingTable(limited, unlimited, traced);
}

const perSecondOf = ({ checks, seconds }: Observed | Traced) => checks / seconds;
const cpuMillisOf = ({ checks, cpuSeconds }: Observed | Traced) => (cpuSeconds * 1000) / checks;

function observingTable(
  limited: readonly Observed[],
  unlimited: readonly Observed[],
  traced: readonly Traced[],
): string {
  const of = <T>(runs: readonly T[], read: (run: T) => number) => median(runs.map(read));
  const row = (label: string, runs: readonly Observed[], isWanted: boolean) => [
    label,
    wantedAtLeast(of(runs, perSecondOf), isWanted ? 1000 : undefined),
    fixed(of(runs, cpuMillisOf), 2),
    isWanted
      ? judged(
          of(runs, (run) => run.packets.median),
          4,
          0,
        )
      : fixed(
          of(runs, (run) => run.packets.median),
          0,
        ),
    fixed(
      of(runs, (run) => run.packets.p99),
      0,
    ),
    fixed(
      of(runs, (run) => run.millis.median),
      0,
    ),
    fixed(
      of(runs, (run) => run.millis.p99),
      0,
    ),
  ];
  const perSecond = of(traced, perSecondOf);
  const cpuMillis = of(traced, cpuMillisOf);
  return table(
    ['', 'checks/s', 'CPU ms per check', 'packets', 'p99', 'ms per check', 'p99'],
    [
      row(`**Zonefleet**, ${PER_SECOND} queries per second to an address`, limited, true),
      row('**Zonefleet**, without that limit', unlimited, false),
      [`\`dig +trace\`, ${DIGS_AT_ONCE} concurrent`, count(perSecond), fixed(cpuMillis, 2), '4', '', '', ''],
      [
        'dig ÷ Zonefleet, both without limit',
        fixed(perSecond / of(unlimited, perSecondOf), 3),
        fixed(cpuMillis / of(unlimited, cpuMillisOf), 1),
        '',
        '',
        '',
        '',
      ],
    ],
  );
}
