// `npm run bench -- guard`: compares the cost of this tree with that of a commit, alternately on one machine. Fails if a
// cost grew by more than a tenth.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { parentedName } from '../checks/parents.ts';
import { startParents } from '../checks/start-parents.ts';
import { prepareCommands } from '../cli/measure-commands.ts';
import { AnswerWatch } from '../edits/watch-answers.ts';
import type { BenchOptions } from '../part.ts';
import { fixed, table } from '../report/table.ts';
import { say } from '../say.ts';
import { median } from '../statistics.ts';
import { expectOk, type MeasuredCall, prepareCalls, type Reply } from './calls.ts';
import { type Cost, costOf } from './cost.ts';
import { isListening, queryOverHttps, queryOverTls } from './encrypted.ts';
import { measureEnabling, measureLargeEdits } from './signed.ts';
import {
  cpuOf,
  lastTag,
  type MeteredProgram,
  openCommit,
  openThisTree,
  type ProgramName,
  type Tree,
} from './tree.ts';

const LIMIT = 1.1;
/** Processor time of one measurement: /proc counts it in hundredths of a second. */
const MEASURED_SECONDS = 0.5;
const MAX_REPETITIONS = 400;
const QUERIES = 20_000;
const QUERIES_UNANSWERED = 100;
const TLS_QUERIES = 50_000;
const HTTPS_QUERIES = 10_000;
const EDITS = 50;
const CHECKS = 40;
const CREATES = 40;
const POOL = {
  NAMESERVER_POOL: 'ns[01-40].pool-a.example,ns[01-40].pool-b.example',
  NAMESERVER_ADDRESSES: '192.0.2.53;198.51.100.53',
};
const COMMANDS = 5;
const QUERY = addressQuery('edit0.edited0.example');

type Programs = Readonly<Record<ProgramName, MeteredProgram>>;

/** Performs the work several times and returns the cost of one. Undefined if the tree does not have the call. */
type Measure = (tree: Tree, round: number) => Promise<Cost | undefined>;

/** Returns true if no cost grew by more than a tenth. */
export async function guard(
  { against = lastTag(), only = '' }: { readonly against?: string; readonly only?: string },
  options: BenchOptions,
): Promise<boolean> {
  const trees = [await openThisTree(), await openCommit(against)] as const;
  const parents = await startParents(options);
  const running = new Map<Tree, Programs>();
  const calls = new Map<Tree, readonly MeasuredCall[]>();
  const rows: Row[] = [];
  const measure = async (name: string, work: Measure) => {
    if (!name.includes(only)) return;
    const row = await compare(name, work, trees, options.rounds);
    rows.push(row);
    say(`  ${row.cells.join('  ')}`);
  };

  for (const tree of trees) await (await tree.start('api')).stop(); // compiles
  await measure('a start of the API', measureStart);
  const commands = await prepareCommands();
  for (const [name, words] of Object.entries(commands.of))
    await measure(`zonefleet ${name}`, async ({ directory }, round) => {
      const program = join(directory, 'src/cli/zonefleet.mjs');
      if (round === 0) await commands.warmUp([program, ...words]);
      const { cpuSeconds } = await commands.measure([program, ...words], COMMANDS);
      return { cpuSeconds, statements: 0, octets: 0 };
    });
  for (const tree of trees) {
    const [api, nameserver] = [await tree.start('api'), await tree.start('nameserver')];
    calls.set(tree, await prepareCalls(tree.ask));
    running.set(tree, { api, nameserver, workers: await tree.start('workers', parents) });
  }
  const programs = (tree: Tree) => running.get(tree) as Programs;
  const [ours = []] = calls.values();
  for (const { name } of ours)
    await measure(name, async (tree, round) => {
      const call = calls.get(tree)?.find((each) => each.name === name) as MeasuredCall;
      return await measureCall(tree, programs(tree).api, call, round);
    });
  await measure('an edit until it is answered', (tree, round) => measureEdits(tree, programs(tree), round));
  await measure('a domain that becomes signed', (tree, round) =>
    measureEnabling(tree, Object.values(programs(tree)), round),
  );
  await measure('an edit in a signed zone of 20,000 names', (tree, round) =>
    measureLargeEdits(tree, [programs(tree).api], round),
  );
  await measure('a query', (tree) => measureQueries(tree, programs(tree).nameserver));
  await measure('a query over TLS', (tree) =>
    measureEncrypted(tree.dotPort, programs(tree).nameserver, queryOverTls, TLS_QUERIES),
  );
  await measure('a query over HTTPS', (tree) =>
    measureEncrypted(tree.dohPort, programs(tree).nameserver, queryOverHttps, HTTPS_QUERIES),
  );
  await measure('a check', (tree, round) => measureChecks(tree, programs(tree), round));
  // Measured last, because the pool applies to all domains that are created later.
  await measure('create domain, pool', (tree, round) => measurePool(tree, programs(tree), round));

  process.stdout.write(
    `\n${table(
      HEAD,
      rows.map(({ cells }) => cells),
    )}\n`,
  );
  const grown = rows.filter(({ hasGrown }) => hasGrown).map(({ cells }) => cells[0]);
  say(
    grown.length === 0
      ? `no cost grew by more than a tenth since ${trees[1].label}`
      : `grown: ${grown.join(', ')}`,
  );
  return grown.length === 0;
}

interface Row {
  readonly cells: readonly string[];
  readonly hasGrown: boolean;
}

const HEAD = ['', 'CPU ms', 'before', 'ratio', 'statements', 'before', 'SQL octets', 'before'];

async function compare(
  name: string,
  work: Measure,
  trees: readonly [Tree, Tree],
  rounds: number,
): Promise<Row> {
  const pairs: (readonly [Cost, Cost])[] = [];
  let repetition = 0;
  const runRounds = async () => {
    for (let round = 0; round < rounds; round++, repetition++) {
      const order = repetition % 2 === 0 ? trees : [...trees].reverse();
      const costs = new Map<Tree, Cost | undefined>();
      for (const tree of order) costs.set(tree, await work(tree, repetition));
      const [now, before] = trees.map((tree) => costs.get(tree));
      if (now === undefined) throw new Error(`${name}: failed in this tree`);
      if (before === undefined) return;
      pairs.push([now, before]);
    }
  };
  await runRounds();
  // One measurement may be disturbed: a loss must show twice.
  if (ratioOf(pairs, 'cpuSeconds') > LIMIT) await runRounds();
  if (pairs.length === 0) return { cells: [name, '', 'not there', '', '', '', '', ''], hasGrown: false };
  const ratio = ratioOf(pairs, 'cpuSeconds');
  const of = (field: keyof Cost, side: 0 | 1) => median(pairs.map((pair) => pair[side][field]));
  return {
    cells: [
      name,
      fixed(of('cpuSeconds', 0) * 1000, 3),
      fixed(of('cpuSeconds', 1) * 1000, 3),
      fixed(ratio, 2),
      fixed(of('statements', 0), 1),
      fixed(of('statements', 1), 1),
      fixed(of('octets', 0), 0),
      fixed(of('octets', 1), 0),
    ],
    hasGrown: [ratio, ratioOf(pairs, 'statements'), ratioOf(pairs, 'octets')].some((each) => each > LIMIT),
  };
}

/** 1 if neither tree has any of this cost. */
function ratioOf(pairs: readonly (readonly [Cost, Cost])[], field: keyof Cost): number {
  const ratios = pairs.map(([now, before]) =>
    now[field] === before[field] ? 1 : now[field] / before[field],
  );
  return median(ratios);
}

async function measureStart(tree: Tree): Promise<Cost> {
  const program = await tree.start('api');
  const cpuSeconds = (await cpuOf(program)) - (await cpuOf());
  await program.stop();
  return { cpuSeconds, ...program.sql.counts() };
}

/** The number of repetitions of each call, chosen in its first round. */
const repetitions = new Map<string, number>();
let used = 0;

async function measureCall(
  tree: Tree,
  api: MeteredProgram,
  call: MeasuredCall,
  round: number,
): Promise<Cost | undefined> {
  const { least = 20 } = call;
  const repeat = async (times: number): Promise<Cost | undefined> => {
    const [from, to] = [used, used + times];
    used = to;
    const ask = call.bySession ? await tree.signIn() : tree.ask;
    await call.prepare?.(tree.ask, from, to);
    let last: Reply | undefined;
    const cost = await costOf([api], times, async () => {
      for (let i = from; i < to; i++) {
        last = await ask(call.method, call.path(i), call.body?.(i));
        if (last.status >= 400)
          return say(
            `  ${call.name}, ${tree.label}: ${last.status} ${JSON.stringify(last.body).slice(0, 200)}`,
          );
      }
    });
    return (last?.status ?? 500) >= 400 ? undefined : cost;
  };
  if (round === 0) {
    const cost = await repeat(least); // also warms up
    if (cost === undefined) return undefined;
    const times = Math.ceil(MEASURED_SECONDS / Math.max(cost.cpuSeconds, 1e-4));
    if (!repetitions.has(call.name))
      repetitions.set(call.name, Math.min(MAX_REPETITIONS, Math.max(least, times)));
  }
  return await repeat(repetitions.get(call.name) ?? MAX_REPETITIONS);
}

async function measureEdits(tree: Tree, { api, nameserver }: Programs, round: number): Promise<Cost> {
  const domain = `edited${round}.example`;
  await expectOk(tree.ask('POST', '/domains/', { name: domain, scan: false }));
  const watch = await AnswerWatch.open('127.0.0.1', tree.dnsPort);
  try {
    return await costOf([api, nameserver], EDITS, async () => {
      for (let i = 0; i < EDITS; i++) {
        const body = { name: `edit${i}`, type: 'A', destination: '192.0.2.77' };
        await expectOk(tree.ask('POST', `/domains/${domain}/records/`, body));
        await watch.untilAnswered(`edit${i}.${domain}`, Buffer.from([192, 0, 2, 77]));
      }
    });
  } finally {
    watch.close();
  }
}

async function measureQueries(tree: Tree, nameserver: MeteredProgram): Promise<Cost> {
  const socket = createSocket('udp4');
  socket.connect(tree.dnsPort, '127.0.0.1');
  await once(socket, 'connect');
  const query = QUERY;
  let [sent, received] = [0, 0];
  try {
    return await costOf([nameserver], QUERIES, async () => {
      socket.on('message', () => received++);
      while (received < QUERIES) {
        while (sent < QUERIES && sent - received < QUERIES_UNANSWERED) {
          socket.send(query);
          sent++;
        }
        const before = received;
        await pause(1);
        if (received === before) sent = received; // lost: sends again
      }
    });
  } finally {
    socket.close();
  }
}

/** Undefined if the nameserver does not listen on the port. */
async function measureEncrypted(
  port: number,
  nameserver: MeteredProgram,
  send: typeof queryOverTls,
  times: number,
): Promise<Cost | undefined> {
  if (!(await isListening(port))) return undefined;
  const { cpuSeconds } = await costOf([nameserver], times, () => send(port, QUERY, times));
  return { cpuSeconds, statements: 0, octets: 0 }; // no query causes SQL
}

function addressQuery(name: string): Buffer {
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`));
  const header = Buffer.from([0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]);
  return Buffer.concat([header, ...labels, Buffer.from([0, 0, 1, 0, 1])]);
}

/** Domains become active as soon as a check finds them delegated. */
async function measureChecks(tree: Tree, { workers }: Programs, round: number): Promise<Cost> {
  const names = Array.from({ length: CHECKS }, (_, i) => parentedName(round * CHECKS + i));
  return await costOf([workers], CHECKS, async () => {
    for (const name of names) await expectOk(tree.ask('POST', '/domains/', { name, scan: false }));
    for (const name of names) {
      while ((await expectOk(tree.ask('GET', `/domains/${name}`))).body.status !== 'active') await pause(50);
    }
  });
}

/** Creates domains of an account that has its own set of the pool. */
async function measurePool(tree: Tree, { api }: Programs, round: number): Promise<Cost> {
  if (round === 0) await tree.migrate(POOL);
  const ask = await tree.makeAccount(`customer${round}@guard.example`);
  const create = async (n: number) => {
    const name = `pool${round}-${n}.example`;
    await expectOk(ask('POST', '/domains/', { name, scan: false }));
  };
  await create(CREATES); // allocates the set
  return await costOf([api], CREATES, async () => {
    for (let n = 0; n < CREATES; n++) await create(n);
  });
}
