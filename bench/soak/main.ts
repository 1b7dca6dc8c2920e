// `npm run soak -- --hours N`: runs a whole fleet with faults at random times, and records what grows, lags or is wrong.

import { randomInt } from 'node:crypto';
import { existsSync, mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command, InvalidArgumentError } from 'commander';
import { generateKey } from '../../src/store/accounts/api-keys.ts';
import { cleanUp } from '../cleanup.ts';
import { say } from '../say.ts';
import { newSecret } from './fleet.ts';
import { type FleetState, loadState } from './fleet-state.ts';
import { runPiece } from './run-piece.ts';
import { readRun } from './samples.ts';
import { hasPassed } from './summary.ts';
import { writeReport } from './write-report.ts';

interface Flags {
  readonly hours: number;
  readonly output: string;
  readonly continue?: boolean;
  readonly seed?: number;
  readonly domains: number;
  readonly edits: number;
  readonly queries: number;
  readonly faultEvery: number;
  readonly sampleEvery: number;
  readonly lagLimit: number;
}

const NAMES_PER_DOMAIN = 6;
const END_LIMIT_MS = 300_000;

const program = new Command('npm run soak --')
  .description(
    'Runs three nodes, API, workers, Postgres with a standby, Redis and Unbound, with faults from a seed.',
  )
  .requiredOption('--hours <n>', 'duration, like 6 or 0.5', positive)
  .option('--output <directory>', 'directory of the run', 'data/soak')
  .option('--continue', 'appends another piece to the run in that directory')
  .option('--seed <n>', 'seed of the faults (default: random)', positive)
  .option('--domains <n>', 'number of edited domains, half of which are signed', positive, 40)
  .option('--edits <n>', 'edits per second', positive, 1.5)
  .option('--queries <n>', 'queries per second to each node', positive, 8)
  .option(
    '--fault-every <seconds>',
    'mean pause between faults; shorter pauses also shorten the faults',
    positive,
    120,
  )
  .option('--sample-every <seconds>', 'pause between samples', positive, 10)
  .option(
    '--lag-limit <seconds>',
    'from an edit to its answer, unless a fault affects the node',
    positive,
    15,
  )
  .action(run);

function positive(text: string): number {
  const number = Number(text);
  if (!(number > 0 && Number.isFinite(number))) throw new InvalidArgumentError('expected a number above 0');
  return number;
}

async function run(flags: Flags): Promise<void> {
  const directory = resolve(flags.output);
  const isContinued = flags.continue === true;
  const exists = existsSync(join(directory, 'state', 'state.json'));
  if (isContinued && !exists) program.error(`${directory} has no run to continue`);
  if (!isContinued && exists)
    program.error(`${directory} already has a run: use --continue, or another --output`);
  mkdirSync(directory, { recursive: true, mode: 0o755 });
  const state = isContinued ? loadState(directory) : newState(flags);
  const ending = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM'] as const)
    process.once(name, () => {
      say('ends the piece');
      ending.abort();
      // A second signal, or an end that takes too long, ends everything.
      setTimeout(() => void exit(1), END_LIMIT_MS).unref();
      process.once(name, () => void exit(1));
    });
  const pieces = new Set(readRun(directory).samples.map(({ piece }) => piece));
  await runPiece({
    directory,
    durationMs: flags.hours * 3_600_000,
    faultEveryMs: flags.faultEvery * 1000,
    sampleEveryMs: flags.sampleEvery * 1000,
    editsPerSecond: flags.edits,
    queriesPerSecond: flags.queries,
    usualLagMs: flags.lagLimit * 1000,
    state,
    piece: pieces.size + 1,
    signal: ending.signal,
  });
  const summary = writeReport(directory);
  say(`${hasPassed(summary) ? 'passed' : 'failed'}: ${join(directory, 'RESULTS.md')}`);
  await exit(hasPassed(summary) ? 0 : 1);
}

function newState({ seed = randomInt(2 ** 31), domains }: Flags): FleetState {
  return {
    seed,
    keySecrets: newSecret('k1'),
    tsigSecrets: newSecret('t1'),
    adminKey: generateKey(),
    ownerKey: generateKey(),
    counter: 0,
    lives: 0,
    ranMs: 0,
    domains: Array.from({ length: domains }, (_, i) => ({
      label: `soak${i}`,
      isSigned: i % 2 === 1,
      ds: undefined,
      values: Object.fromEntries(Array.from({ length: NAMES_PER_DOMAIN }, (_, k) => [`w${k}`, null])),
    })),
  };
}

async function exit(code: number): Promise<never> {
  await cleanUp();
  process.exit(code);
}

try {
  await program.parseAsync();
} catch (error) {
  say((error as Error).stack ?? String(error));
  await exit(1);
}
