// Creates domains through the API of this tree and of an older commit, alternately: one client, eight clients of one account,
// and three accounts with a nameserver pool.

import type { Ask } from '../guard/calls.ts';
import { expectOk } from '../guard/calls.ts';
import { costOf } from '../guard/cost.ts';
import { type MeteredProgram, openCommit, openThisTree, type Tree } from '../guard/tree.ts';
import type { BenchOptions, Part } from '../part.ts';
import { runOn } from '../postgres/cluster.ts';
import { atLeast, type Cell, fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';

interface Case {
  readonly words: string;
  readonly accounts: number;
  readonly clientsOfEach: number;
  readonly hasPool?: true;
}

const CASES: readonly Case[] = [
  { words: 'one client', accounts: 1, clientsOfEach: 1 },
  { words: 'eight clients of one account', accounts: 1, clientsOfEach: 8 },
  { words: 'three accounts with a nameserver pool', accounts: 3, clientsOfEach: 1, hasPool: true },
];

/** Minimum ratio of the rates. */
const WANTED = 4;
const WARM_UP = 40;
const POOL = {
  NAMESERVER_POOL: 'ns[01-40].pool-a.net,ns[01-40].pool-b.net',
  NAMESERVER_ADDRESSES: '192.0.2.53;198.51.100.53',
};

interface Contestant {
  readonly tree: Tree;
  readonly api: MeteredProgram;
  readonly accounts: readonly Ask[];
}

interface Run {
  readonly perSecond: number;
  readonly cpuMs: number;
  readonly statements: number;
}

export const domains: Part = {
  names: ['domains'],
  async run(options) {
    const trees = [await openThisTree(), await openCommit(options.old)] as const;
    const contestants = [await start(trees[0]), await start(trees[1])] as const;
    const rows: Cell[][] = [];
    for (const one of CASES) {
      if (one.hasPool) for (const { tree } of contestants) await tree.migrate(POOL);
      const [ours, theirs] = await runInPairs(one, contestants, options);
      const of = (runs: readonly Run[], figure: keyof Run) => median(runs.map((run) => run[figure]));
      const ratio = (figure: keyof Run) =>
        median(ours.map((run, i) => run[figure] / (theirs[i]?.[figure] ?? Number.NaN)));
      rows.push([
        one.words,
        fixed(of(ours, 'perSecond'), 1),
        fixed(of(theirs, 'perSecond'), 1),
        atLeast(ratio('perSecond'), WANTED),
        fixed(of(ours, 'cpuMs'), 1),
        fixed(of(theirs, 'cpuMs'), 1),
        fixed(ratio('cpuMs'), 2),
        fixed(of(ours, 'statements'), 1),
        fixed(of(theirs, 'statements'), 1),
      ]);
    }
    for (const { api } of contestants) await api.stop();
    const text = `\`POST /domains/\` with a new name, alternately through the API of this tree and of commit ${options.old}, for ${options.seconds} s in each round. Each client sends its next call as soon as the previous one is answered. CPU time is that of the API and Postgres per call. Each ratio is the median of the rounds’ ratios.`;
    const head = ['', 'calls/s', 'before', 'ratio', 'CPU ms', 'before', 'ratio', 'statements', 'before'];
    return [{ part: 'domains', title: 'Creating domains', blocks: [text, table(head, rows)], charts: [] }];
  },
};

async function start(tree: Tree): Promise<Contestant> {
  await runOn(tree.databaseUrl, 'update plans set max_domains = null, max_claims = null');
  const accounts: Ask[] = [];
  for (let i = 0; i < 3; i++) accounts.push(await tree.makeAccount(`creator${i}@bench.example`));
  return { tree, api: await tree.start('api'), accounts };
}

async function runInPairs(
  one: Case,
  contestants: readonly [Contestant, Contestant],
  { rounds, seconds }: BenchOptions,
): Promise<readonly [Run[], Run[]]> {
  const runs: readonly [Run[], Run[]] = [[], []];
  for (const contestant of contestants) await create(contestant, one, (made) => made < WARM_UP);
  for (let round = 0; round < rounds; round++) {
    for (const i of round % 2 === 0 ? ([0, 1] as const) : ([1, 0] as const)) {
      const untilMs = performance.now() + seconds * 1000;
      const run = await create(contestants[i], one, () => performance.now() < untilMs);
      runs[i].push(run);
      const { label } = contestants[i].tree;
      say(
        `  ${one.words}, round ${round + 1} of ${rounds}, ${label}: ${fixed(run.perSecond, 1)} per second, ${fixed(run.cpuMs, 1)} ms`,
      );
    }
  }
  return runs;
}

let created = 0;

async function create(
  { api, accounts }: Contestant,
  { accounts: count, clientsOfEach }: Case,
  goesOn: (made: number) => boolean,
): Promise<Run> {
  let made = 0;
  const client = async (ask: Ask) => {
    while (goesOn(made)) {
      made++;
      await expectOk(ask('POST', '/domains/', { name: `created${created++}.example` }));
    }
  };
  const clients = accounts.slice(0, count).flatMap((ask) => Array<Ask>(clientsOfEach).fill(ask));
  const startedMs = performance.now();
  const cost = await costOf([api], 1, () => Promise.all(clients.map(client)));
  const seconds = (performance.now() - startedMs) / 1000;
  return {
    perSecond: made / seconds,
    cpuMs: (cost.cpuSeconds * 1000) / made,
    statements: cost.statements / made,
  };
}
