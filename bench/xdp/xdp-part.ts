// Compares answers over XDP on a pair of virtual interfaces: their rate and processor time with those of Knot's XDP and of
// servers behind the kernel, and their octets with those of the kernel's path. Requires root.

import { createHash } from 'node:crypto';
import { signZoneText } from '../../test/support/dnssec/sign-zone-text.ts';
import { makeKey } from '../../test/support/dnssec/signing.ts';
import { comparedZones } from '../../test/support/network/compared-queries.ts';
import {
  ADDRESSES,
  LinkedHosts,
  VLAN_NODE_OPTIONS,
  XDP_INTERFACE,
} from '../../test/support/network/linked-hosts.ts';
import { NetworkNamespace } from '../../test/support/network/namespace.ts';
import { startAgent } from '../../test/support/network/start-agent.ts';
import { DENIAL_STYLES } from '../../test/support/zone/sign-zone.ts';
import { onEnd } from '../cleanup.ts';
import { isInOwnNamespace, runInOwnNamespace } from '../own-namespace.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { cpuSeconds } from '../process-tree.ts';
import { atLeast, type Cell, count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { median } from '../statistics.ts';
import { makeOneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';
import type { ZoneSet } from '../zones/zone-set.ts';
import { type ContestantName, startContestants, type XdpContestant } from './contestants.ts';
import { coreBusySeconds } from './core-time.ts';
import { type GunLoad, runKxdpgun } from './kxdpgun.ts';

const NAMES = 10_000;
const QUESTIONS = 200_000;
const COMPARED = 10_000_000;
/** More than any of the servers answers on this kind of machine, and a load that all of them can answer completely. */
const LOADS = [
  { name: 'flood', rate: 1_000_000, title: 'As many queries as the client can send' },
  { name: 'steady', rate: 50_000, title: '50 000 queries per second' },
] as const;
const VARIANTS = [
  { suffix: '', title: 'without EDNS' },
  { suffix: ' E', title: 'with EDNS' },
] as const;
type Limits = Partial<Record<ContestantName, { readonly replies?: number; readonly cpu: number }>>;
/** Minimum of replies and maximum of processor time, relative to the other server. */
const WANTED: Limits = {
  knot: { replies: 1, cpu: 0.9 },
  'echo-kernel': { cpu: 0.5 },
};
const WARM_UP_SECONDS = 5;
const LEAST_NOERROR = 80;
const SETUP = ['mount -t sysfs sysfs /sys'];

export const xdp: Part = {
  names: ['xdp'],
  run: (options) => (isInOwnNamespace() ? compare(options) : runInOwnNamespace('xdp', options, SETUP)),
};

/** A contestant with the suffix of a variant. */
interface Case {
  readonly contestant: XdpContestant;
  readonly suffix: string;
}

interface XdpRun {
  readonly repliesPerSecond: number;
  /** Processor time of the server's processes, and of its whole core, for each reply. */
  readonly processMicros: number;
  readonly coreMicros: number;
  /** Percentage of the queries that were answered. */
  readonly replied: number;
}

async function compare(options: BenchOptions): Promise<Section[]> {
  const hosts = await LinkedHosts.create({ server: NetworkNamespace.own() });
  onEnd(() => hosts.remove());
  const zone = makeOneZone('names', NAMES);
  const lines = zone.questions(QUESTIONS, 1).trimEnd().split('\n');
  const contestants = await startContestants(hosts, zone.set, options);
  const blocks: string[] = [ABOUT];
  const cases = contestants.flatMap((contestant) =>
    VARIANTS.map((variant): Case => ({ contestant, suffix: variant.suffix })),
  );
  const queries = new Map<string, string>(
    VARIANTS.map(({ suffix }) => {
      const text = `${lines.join(`${suffix}\n`)}${suffix}\n`;
      return [suffix, writeQueries(options.directory, `xdp${suffix.trim()}`, text)];
    }),
  );
  const loadOf = ({ contestant, suffix }: Case, rate: number, seconds: number): GunLoad => ({
    client: hosts.client,
    interface: contestant.interface,
    cpu: options.loadCpu,
    address: contestant.running.address,
    port: contestant.running.port,
    queries: queries.get(suffix) as string,
    seconds,
    rate,
  });
  for (const one of cases) await warmUp(one.contestant, loadOf(one, 50_000, WARM_UP_SECONDS));
  for (const { name, rate, title } of LOADS) {
    say(`xdp, ${rate} queries per second`);
    const runs = await interleave(cases, options, (one) =>
      measure(one.contestant, loadOf(one, rate, options.seconds), options),
    );
    for (const { suffix, title: variant } of VARIANTS) {
      const own = [...runs].filter(([one]) => one.suffix === suffix);
      const byContestant = new Map(own.map(([{ contestant }, list]) => [contestant, list]));
      blocks.push(`### ${title}, ${variant}`, tableOf(byContestant, name === 'flood' ? WANTED : {}));
    }
  }
  for (const { running } of contestants) await running.stop();
  if (contestants.some(({ name }) => name === 'ours'))
    blocks.push('### The same answers as the kernel’s path', await compareAnswers(hosts, options));
  await hosts.remove();
  return [{ part: 'xdp', title: 'XDP', blocks, charts: [] }];
}

const ABOUT =
  'Two network namespaces are joined by a pair of virtual interfaces (veth, XDP in driver mode, copied packets), one for each ' +
  'server. The server has one core, and kxdpgun the other one; it sends at a fixed rate, also over XDP. The zone and the ' +
  'queries are those of the first part. The kernel receives packets for the server on the core of the client, whose time is ' +
  'not included. “Process” is the processor time of the server’s processes, “core” that of its whole core with the kernel’s interrupts.';

async function warmUp(contestant: XdpContestant, load: GunLoad): Promise<void> {
  const { rcodes, replies } = await runKxdpgun(load);
  if (contestant.name === 'echo-kernel' ? replies === 0 : (rcodes.NOERROR ?? 0) < LEAST_NOERROR)
    throw new Error(`${contestant.label} answers ${JSON.stringify(rcodes)}`);
}

async function measure(
  { running }: XdpContestant,
  load: GunLoad,
  { serverCpu = 0 }: BenchOptions,
): Promise<XdpRun> {
  const before = [cpuSeconds(running.program.pid), coreBusySeconds(serverCpu)] as const;
  const { queries, replies, repliesPerSecond } = await runKxdpgun(load);
  const perReply = (seconds: number) => (seconds * 1e6) / replies;
  return {
    repliesPerSecond,
    processMicros: perReply(cpuSeconds(running.program.pid) - before[0]),
    coreMicros: perReply(coreBusySeconds(serverCpu) - before[1]),
    replied: (replies * 100) / queries,
  };
}

/** Alternates all cases in each round, so that disturbances of the machine affect all of them. */
async function interleave(
  cases: readonly Case[],
  options: BenchOptions,
  run: (one: Case) => Promise<XdpRun>,
): Promise<Map<Case, XdpRun[]>> {
  const runs = new Map<Case, XdpRun[]>(cases.map((one) => [one, []]));
  for (let round = 0; round < options.rounds; round++)
    for (let i = 0; i < cases.length; i++) {
      const one = cases[(i + round) % cases.length] as Case;
      const result = await run(one);
      runs.get(one)?.push(result);
      say(
        `  round ${round + 1} of ${options.rounds}, ${one.contestant.label}${one.suffix}: ` +
          `${Math.round(result.repliesPerSecond)} replies/s, ` +
          `${result.processMicros.toFixed(2)} µs, core ${result.coreMicros.toFixed(2)} µs`,
      );
    }
  return runs;
}

function tableOf(runs: ReadonlyMap<XdpContestant, readonly XdpRun[]>, limits: Limits): string {
  const of = (list: readonly XdpRun[], read: (run: XdpRun) => number) => median(list.map(read));
  const ours = [...runs].find(([{ name }]) => name === 'ours')?.[1] ?? [];
  const rows = [...runs].map(([{ name, label }, list]): Cell[] => {
    const wanted = limits[name];
    const ratio = (read: (run: XdpRun) => number) => of(ours, read) / of(list, read);
    const micros = list.map(({ processMicros }) => processMicros);
    const replies = ratio((run) => run.repliesPerSecond);
    return [
      name === 'ours' ? `**${label}**` : label,
      count(of(list, (run) => run.repliesPerSecond)),
      fixed(
        of(list, (run) => run.replied),
        0,
      ),
      fixed(median(micros), 2),
      `${fixed(Math.min(...micros), 2)}–${fixed(Math.max(...micros), 2)}`,
      fixed(
        of(list, (run) => run.coreMicros),
        2,
      ),
      ...(name === 'ours'
        ? ['', '', '']
        : [
            wanted?.replies === undefined ? `${fixed(replies, 2)} ×` : atLeast(replies, wanted.replies),
            judged(
              ratio((run) => run.processMicros),
              wanted?.cpu,
            ),
            judged(
              ratio((run) => run.coreMicros),
              wanted?.cpu,
            ),
          ]),
    ];
  });
  const head = ['replies/s', '% replied', 'process, µs per reply', 'lowest–highest', 'core, µs per reply'];
  return table(
    ['', ...head, 'Zonefleet ÷ this, replies', 'Zonefleet ÷ this, process', 'Zonefleet ÷ this, core'],
    rows,
  );
}

/** Compares the answers of one node over XDP and through the kernel. */
async function compareAnswers(hosts: LinkedHosts, options: BenchOptions): Promise<string> {
  const queries = options.zones ?? COMPARED;
  const { xdp: overXdp, kernel } = ADDRESSES;
  const node = await startZonefleet({
    set: comparedSet(),
    address: overXdp.ipv4,
    moreAddresses: [overXdp.ipv6, kernel.ipv4, kernel.ipv6],
    cpu: options.serverCpu,
    limitsRates: false,
    timeoutMs: 60_000,
    xdpInterface: XDP_INTERFACE,
    environment: { NODE_OPTIONS: VLAN_NODE_OPTIONS },
  });
  const agent = startAgent(hosts.client);
  try {
    say(`comparing ${queries} answers`);
    const macs = await hosts.macs();
    const result = await agent.do('comparePaths', { count: queries, seed: 1, port: node.port, macs });
    for (const example of result.examples) say(example);
    const { equal, laterCookies, silent, wrong, lost } = result;
    return table(
      ['', 'number'],
      [
        ['compared', count(equal + laterCookies + silent + wrong)],
        ['equal answers', count(equal)],
        ['equal answers, except for valid cookies made at different times', count(laterCookies)],
        ['queries that neither path answers', count(silent)],
        ['wrong', wrong === 0 ? '0 (wanted 0: yes)' : `${count(wrong)} (wanted 0: **no**)`],
        ['queries sent again, because a packet was lost', count(lost)],
      ],
    );
  } finally {
    agent.stop();
    await node.stop();
  }
}

function comparedSet(): ZoneSet {
  const key = makeKey(15);
  const time = { inception: 1_700_000_000, expiration: 1_800_000_000 };
  const [nsec, nsec3] = DENIAL_STYLES;
  const denials = new Map([
    ['nsec.test.', nsec],
    ['nsec3.test.', nsec3],
  ]);
  const zones = comparedZones().map((zone) =>
    denials.has(zone.apex) ? signZoneText(zone, key, time, denials.get(zone.apex)) : zone,
  );
  const text = zones.map((zone) => zone.text).join('');
  const digest = createHash('sha256').update(text).digest('hex').slice(0, 8);
  return { name: `compared_${digest}`, zones, records: text.split('\n').length };
}
