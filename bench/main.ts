// `npm run bench [PART…]`: compares us with the servers on this machine, and writes the results into RESULTS.md.

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
  .description('Measures the nameserver beside the servers that this machine has, and writes RESULTS.md.')
  .argument('[PART...]', 'all, when none is named')
  .option('--rounds <n>', 'runs of each server, of which the median counts (5)', whole)
  .option('--seconds <n>', 'of each run (3)', whole)
  .option('--zones <n>', 'zones of the recipe (a million; 100,000 for edits and soak)', whole)
  .option('--soak-seconds <n>', 'of the soak (600)', whole)
  .option('--old <commit>', `with which domains compares (${OLD})`)
  .option('--servers <names>', `of ${ALL_SERVERS.map((server) => server.name).join(',')}`)
  .option('--quick', 'a look whether everything works: one short run of each, 10,000 zones')
  .option('--keep <directory>', 'databases are made there and stay for the next time')
  .option('--results <directory>', 'where RESULTS.md is', fileURLToPath(new URL('.', import.meta.url)))
  .addOption(new Option(INSIDE, 'started by the parts rrl and xdp').hideHelp())
  .addHelpText('after', `\nParts, and how long they take:\n${partList()}`)
  .action(run);

program
  .command('guard')
  .description(
    'Compares the cost of calls, an edit, a query, a check and a start with a commit; fails if one grew by a tenth.',
  )
  .option('--against <commit>', 'the last tag, unless given')
  .option('--only <text>', 'only costs whose name contains this')
  .option('--rounds <n>', 'measurements of each (7)', whole)
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

/** Without where something lies on this machine, which no result needs to know. */
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
  if (!hasTwoCores) say('this machine has one core: server and dnsperf share it, and figures tell little');
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
    if (!isThere) say(`${server.title} is not installed: left out`);
    return isThere;
  });
}

/** Everything that was started is ended first; a part that fails of that is not told. */
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
