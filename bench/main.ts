// `npm run bench [PART…]`: compares Zonefleet with the servers on this machine, and writes the results into RESULTS.md.

import { mkdtempSync, rmSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError, Option } from 'commander';
import { cleanUp, onEnd } from './cleanup.ts';
import { guard } from './guard/guard.ts';
import { INSIDE } from './own-namespace.ts';
import type { BenchOptions, PartName } from './part.ts';
import { PARTS } from './parts.ts';
import { keepDatabasesIn } from './postgres/cluster.ts';
import { describeMachine } from './report/machine.ts';
import { writeSection } from './report/results-file.ts';
import { say } from './say.ts';
import { ALL_SERVERS } from './servers/all.ts';
import type { Server } from './servers/server.ts';

interface Flags {
  readonly rounds?: number;
  readonly seconds?: number;
  readonly zones?: number;
  readonly soakSeconds?: number;
  readonly old?: string;
  readonly servers?: string;
  readonly quick?: boolean;
  readonly keep?: string;
  readonly results: string;
}

const OLD = '247e3f7f';
const FULL = { rounds: 5, seconds: 3, soakSeconds: 600 };
const QUICK = { rounds: 1, seconds: 1, soakSeconds: 10, zones: 10_000 };

const program = new Command('npm run bench --')
  .description(
    'Compares Zonefleet with the servers that are installed on this machine, and writes RESULTS.md.',
  )
  .argument('[PART...]', 'default: all')
  .option('--rounds <n>', 'runs of each server; results are their medians (default: 5)', whole)
  .option('--seconds <n>', 'duration of each run (default: 3)', whole)
  .option('--zones <n>', 'number of small zones (default: a million; 100,000 for edits and soak)', whole)
  .option('--soak-seconds <n>', 'duration of the soak (default: 600)', whole)
  .option('--old <commit>', `commit with which the parts domains and start compare (default: ${OLD})`)
  .option('--servers <names>', `some of ${ALL_SERVERS.map((server) => server.name).join(',')}`)
  .option('--quick', 'smoke test: one short run of each part, 10,000 zones')
  .option('--keep <directory>', 'creates the databases there and keeps them for the next run')
  .option('--results <directory>', 'directory of RESULTS.md', fileURLToPath(new URL('.', import.meta.url)))
  .addOption(new Option(INSIDE, 'started by the parts rrl and xdp').hideHelp())
  .addHelpText('after', `\nParts and their durations:\n${partList()}`)
  .enablePositionalOptions() // `guard` has options of the same names
  .action(run);

program
  .command('guard')
  .description(
    'Compares the cost of API calls, edits, queries, checks and starts with that of a commit. Fails if one grew by more than a tenth.',
  )
  .option('--against <commit>', 'default: the last tag')
  .option('--only <text>', 'only costs whose name contains this')
  .option('--rounds <n>', 'measurements of each cost (default: 7)', whole)
  .action(async ({ rounds = 7, ...wanted }: { against?: string; only?: string; rounds?: number }) => {
    const isKept = await guard(wanted, { ...chooseOptions({ results: '.' }), rounds });
    await cleanUp();
    process.exit(isKept ? 0 : 1);
  });

let isEnding = false;

function partList(): string {
  return PARTS.flatMap((group) => group.names)
    .map(({ name, minutes, about }) => `  ${name.padEnd(9)} ${String(minutes).padStart(4)} min  ${about}`)
    .join('\n');
}

function whole(text: string): number {
  const number = Number(text);
  if (!/^\d+$/.test(text) || number < 1) throw new InvalidArgumentError('expected a whole number from 1');
  return number;
}

async function run(names: string[], flags: Flags): Promise<void> {
  const known = PARTS.flatMap((group) => group.part.names);
  const unknown = names.filter((name) => !known.includes(name as PartName));
  if (unknown.length > 0) program.error(`no such part: ${unknown.join(', ')}`);
  const wanted = new Set(names.length === 0 ? known : (names as PartName[]));
  const options = chooseOptions(flags);
  if (flags.keep !== undefined) keepDatabasesIn(join(resolve(flags.keep), 'postgres'));
  const command = commandOf(names, options.words);
  const failed: string[] = [];
  for (const { part } of PARTS) {
    const asked = part.names.filter((name) => wanted.has(name));
    if (asked.length === 0) continue;
    if (isEnding) return;
    say(`== ${asked.join(', ')}`);
    try {
      for (const section of await part.run(options, new Set(asked))) {
        writeSection(flags.results, section, known, {
          command,
          date: new Date().toISOString().slice(0, 10),
          machine: describeMachine(options.servers),
          runs: options.rounds === 1 ? 'one run each' : `medians of ${options.rounds} runs each`,
        });
      }
    } catch (error) {
      if (isEnding) return;
      say(`${asked.join(', ')} failed: ${(error as Error).stack}`);
      failed.push(...asked);
    }
  }
  await cleanUp();
  say(failed.length === 0 ? 'done' : `failed: ${failed.join(', ')}`);
  process.exit(failed.length === 0 ? 0 : 1);
}

/** Returns the command without paths of this machine, which do not belong into results. */
function commandOf(names: readonly string[], words: readonly string[]): string {
  const shown = words.filter((word) => !word.startsWith('--results='));
  return ['npm run bench', ...(names.length + shown.length > 0 ? ['--'] : []), ...names, ...shown].join(' ');
}

/** Flags that a part must pass on when it starts the benchmark again. */
function wordsOf(flags: Flags, results: string): string[] {
  const words: string[] = flags.quick ? ['--quick'] : [];
  if (flags.rounds !== undefined) words.push(`--rounds=${flags.rounds}`);
  if (flags.seconds !== undefined) words.push(`--seconds=${flags.seconds}`);
  if (flags.zones !== undefined) words.push(`--zones=${flags.zones}`);
  if (flags.soakSeconds !== undefined) words.push(`--soak-seconds=${flags.soakSeconds}`);
  if (flags.old !== undefined) words.push(`--old=${flags.old}`);
  if (flags.servers !== undefined) words.push(`--servers=${flags.servers}`);
  return [...words, `--results=${resolve(results)}`];
}

function chooseOptions(flags: Flags): BenchOptions {
  const basis = flags.quick ? QUICK : FULL;
  const directory = mkdtempSync(join(tmpdir(), 'zonefleet-bench-'));
  onEnd(() => rmSync(directory, { recursive: true, force: true }));
  const hasTwoCores = availableParallelism() > 1;
  if (!hasTwoCores)
    say('this machine has one core, which the server and dnsperf share: the figures have little meaning');
  return {
    rounds: flags.rounds ?? basis.rounds,
    seconds: flags.seconds ?? basis.seconds,
    soakSeconds: flags.soakSeconds ?? basis.soakSeconds,
    old: flags.old ?? OLD,
    zones: flags.zones ?? (flags.quick ? QUICK.zones : undefined),
    servers: chooseServers(flags.servers),
    serverCpu: hasTwoCores ? 0 : undefined,
    loadCpu: hasTwoCores ? 1 : undefined,
    directory,
    serversAreChosen: flags.servers !== undefined,
    words: wordsOf(flags, flags.results),
  };
}

function chooseServers(names: string | undefined): Server[] {
  const chosen = names?.split(',');
  const unknown = chosen?.filter((name) => !ALL_SERVERS.some((server) => server.name === name)) ?? [];
  if (unknown.length > 0) program.error(`no such server: ${unknown.join(', ')}`);
  return ALL_SERVERS.filter((server) => {
    if (chosen !== undefined && !chosen.includes(server.name)) return false;
    const isThere = server.version() !== undefined;
    if (!isThere) say(`${server.title} is not installed: skipped`);
    return isThere;
  });
}

/** Ends everything that was started, then the process. Parts that fail because of that are not reported. */
async function end(reason: string, exitCode: number): Promise<void> {
  if (isEnding) return;
  isEnding = true;
  say(reason);
  await cleanUp();
  process.exit(exitCode);
}

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.on(signal, () => end(`stopped by ${signal}`, 130));
}
process.on('uncaughtException', (error) => end(String(error.stack), 1));
await program.parseAsync();
