// `npm run mutants -- FOLDER…`: breaks the code of a folder in small ways, one at a time in a copy of the tree, and lists which
// tier of tests notices each. The choice of mutants is fixed, so that two commits can be compared.

import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { Command } from 'commander';
import { type Mutant, mutantsOf } from './operators.ts';

interface Options {
  readonly count: string;
  readonly tiers: string;
  readonly workers: string;
  readonly timeout: string;
}

const program = new Command('npm run mutants --')
  .description(
    'Lists which tier of tests notices a change of the code. Takes about ten minutes for a folder.',
  )
  .argument('<folder...>', 'folders below src, or workers')
  .option('--count <n>', 'mutants per folder', '20')
  .option('--tiers <names>', 'tiers to run, in this order', 'unit,postgres,sockets')
  .option('--workers <n>', 'test processes', '2')
  .option('--timeout <seconds>', 'a longer run counts as noticed: most are endless loops', '240')
  .action(run);

/** The number of test files that are run for one mutant: far tests rarely notice what near ones do not. */
const NEAR_TESTS = 80;

const tree = execFileSync('git', ['rev-parse', '--show-toplevel'], { encoding: 'utf8' }).trim();
const files = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: tree,
  encoding: 'utf8',
})
  .trim()
  .split('\n')
  .filter((file) => existsSync(join(tree, file)));
const code = files.filter((file) => /\.(ts|mjs)$/.test(file));

async function run(folders: readonly string[], options: Options): Promise<void> {
  const copy = copyTree();
  try {
    const importers = importersOf(code);
    for (const folder of folders) {
      const counts: Record<string, number> = {};
      for (const mutant of chooseMutants(folder, Number(options.count))) {
        const text = readFileSync(join(tree, mutant.file), 'utf8');
        writeFileSync(
          join(copy, mutant.file),
          text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end),
        );
        const tier = (await noticedBy(copy, testsNear(mutant.file, importers), options)) ?? 'survived';
        writeFileSync(join(copy, mutant.file), text);
        counts[tier] = (counts[tier] ?? 0) + 1;
        console.log(`${tier.padEnd(8)} ${describe(mutant)}`);
      }
      console.log(
        `${folder}: ${Object.entries(counts)
          .map(([tier, count]) => `${count} ${tier}`)
          .join(', ')}`,
      );
    }
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function describe({ file, line, operator, original, replacement }: Mutant): string {
  const [from, to] = [original, replacement].map((text) => {
    const flat = text.replaceAll(/\s+/g, ' ');
    return flat.length > 40 ? `${flat.slice(0, 37)}…` : flat;
  });
  return `${file}:${line} ${operator} ${from} → ${to}`;
}

function copyTree(): string {
  const copy = mkdtempSync(join(tmpdir(), 'zonefleet-mutants-'));
  for (const file of files) cpSync(join(tree, file), join(copy, file));
  for (const modules of ['node_modules', 'console/node_modules'])
    symlinkSync(join(tree, modules), join(copy, modules));
  return copy;
}

/** Chooses by a hash of the changed line, so that the choice survives changes elsewhere; at most two in a file. */
function chooseMutants(folder: string, count: number): Mutant[] {
  const root = folder === 'workers' ? 'workers/' : `src/${folder}/`;
  const perFile = new Map<string, number>();
  return code
    .filter((file) => file.startsWith(root))
    .flatMap((file) => mutantsOf(file, readFileSync(join(tree, file), 'utf8')))
    .map((mutant) => ({ mutant, rank: rankOf(mutant) }))
    .sort((a, b) => (a.rank < b.rank ? -1 : 1))
    .map(({ mutant }) => mutant)
    .filter(({ file }) => {
      const before = perFile.get(file) ?? 0;
      perFile.set(file, before + 1);
      return before < 2;
    })
    .slice(0, count);
}

function rankOf({ file, operator, original, replacement }: Mutant): string {
  return createHash('sha256').update(`${file} ${operator} ${original} ${replacement}`).digest('hex');
}

/** Each file with the files that import it. Type imports do not run code. */
function importersOf(paths: readonly string[]): Map<string, string[]> {
  const importers = new Map<string, string[]>();
  for (const path of paths) {
    const text = readFileSync(join(tree, path), 'utf8');
    for (const [, typeOnly, name = ''] of text.matchAll(
      /\b(?:import|export)\s+(type\s)?[^'";]*?from\s+'(\.[^']+)'|\bimport\(\s*'(\.[^']+)'/g,
    )) {
      if (typeOnly) continue;
      const target = normalize(join(dirname(path), name));
      importers.set(target, [...(importers.get(target) ?? []), path]);
    }
  }
  return importers;
}

/** Lists the tests that load a file, nearest first. Those that import it directly run first, and usually suffice. */
function testsNear(file: string, importers: ReadonlyMap<string, readonly string[]>): string[][] {
  const distances = new Map([[file, 0]]);
  for (const [at, distance] of distances) {
    for (const importer of importers.get(at) ?? [])
      if (!distances.has(importer)) distances.set(importer, distance + 1);
  }
  const tests = [...distances.keys()].filter((path) => path.endsWith('.test.ts'));
  const direct = tests.filter((path) => distances.get(path) === 1);
  const others = tests.filter((path) => distances.get(path) !== 1).slice(0, NEAR_TESTS);
  return [direct, others].filter((group) => group.length > 0);
}

async function noticedBy(
  copy: string,
  groups: readonly string[][],
  options: Options,
): Promise<string | undefined> {
  for (const tier of options.tiers.split(',')) {
    for (const group of groups) if (await fails(copy, tier, group, options)) return tier;
  }
  return undefined;
}

function fails(copy: string, tier: string, tests: readonly string[], options: Options): Promise<boolean> {
  const args = ['run', '--bail=1', '--passWithNoTests', `--maxWorkers=${options.workers}`, '--project', tier];
  const vitest = spawn(
    process.execPath,
    [join(copy, 'node_modules/vitest/vitest.mjs'), ...args, '--reporter=dot', ...tests],
    { cwd: copy, stdio: 'ignore', detached: true },
  );
  const end = setTimeout(
    () => process.kill(-(vitest.pid as number), 'SIGKILL'),
    Number(options.timeout) * 1000,
  );
  return new Promise((resolve, reject) => {
    vitest.once('error', reject);
    vitest.once('exit', (status) => {
      clearTimeout(end);
      resolve(status !== 0);
    });
  });
}

await program.parseAsync();
