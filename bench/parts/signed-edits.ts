// Edits of signed domains under load, as the API saves them: the time until an edit is answered, compared with edits of
// unsigned domains.

import { parseName } from '../../src/dns/name.ts';
import { type Database, openDatabase } from '../../src/store/postgres/database.ts';
import { saved } from '../../test/support/database/domains.ts';
import { useSecrets } from '../../test/support/database/signed-zones.ts';
import { edit } from '../../test/support/zone/customer-records.ts';
import type { EditWriter } from '../edits/edit-records.ts';
import {
  LARGE,
  largeOwner,
  makeSignedDomains,
  type SignedDomains,
  signedName,
  unsignedName,
} from '../edits/signed-domains.ts';
import { type EditTarget, type TimedEdits, timeEdits, visibleTable } from '../edits/time-edits.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { benchCluster, pinCluster, runOn } from '../postgres/cluster.ts';
import { cpuSeconds } from '../process-tree.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import type { LoadOptions } from '../rounds.ts';
import type { RunningServer } from '../servers/server.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { percentile } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';

const DOMAINS = 1000;
const LARGE_NAMES = 20_000;
/** At half of the node's maximum, dnsperf alone would keep the core of Postgres and the edits busy. */
const QUERIES_PER_SECOND = 20_000;
const EDITS_PER_SECOND = 100;
const LARGE_EDITS_PER_SECOND = 20;
/** Maximum number of concurrent calls: one that signs must not delay the next one. */
const AT_ONCE = 8;
const LIMITS = { p99: 100, largeP99: 60, moreP50: 1, cpuMs: 4, largeCpuMs: 6 };
const WARM_UP_EDITS = 100;
const CPU_EDITS = 300;
/** Prime to the number of names. */
const STEP = 7919;

export const signedEdits: Part = {
  names: ['signed_edits'],
  async run(options) {
    const domains = Math.min(options.zones ?? DOMAINS, DOMAINS);
    const made = await makeSignedDomains(domains, domains * (LARGE_NAMES / DOMAINS));
    const costs = await measureCosts(made);
    const names = Array.from({ length: domains }, (_, i) => [unsignedName(i), signedName(i)]).flat();
    const node = await startZonefleet({
      set: { name: 'signed_domains', zones: names.map((apex) => ({ apex, text: '' })), records: 0 },
      databaseUrl: made.url,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 120_000,
    });
    const unpin = await pinCluster(options.loadCpu);
    try {
      const lines = names.flatMap((name) => [`www.${name} A`, `mail.${name} A`, `shop.${name} A`]);
      const queries = writeQueries(options.directory, 'signed-edits', `${lines.join('\n')}\n`);
      await warmUp(node, { queries, edns: { kind: 'dnssec' } }, options);
      return [await measureEdits(node, made, { queries, costs }, options)];
    } finally {
      await unpin();
      await node.stop();
    }
  },
};

async function measureEdits(
  server: RunningServer,
  made: SignedDomains,
  { queries, costs }: { readonly queries: string; readonly costs: readonly EditCost[] },
  options: BenchOptions,
): Promise<Section> {
  const { domains, names, url } = made;
  const load: LoadOptions = {
    queries,
    edns: { kind: 'dnssec' },
    seconds: options.seconds,
    rate: QUERIES_PER_SECOND,
  };
  const time = async (edits: Omit<TimedEdits, 'writer' | 'atOnce'>) =>
    await timeEdits(
      server,
      load,
      { ...edits, atOnce: AT_ONCE, writer: await openDomainWriter(url) },
      options,
    );
  let first = 0;
  const small = async (nameOf: (index: number) => string) => {
    const target = targetOf(made, nameOf, first);
    first += EDITS_PER_SECOND * options.seconds;
    return await time({ perSecond: EDITS_PER_SECOND, target });
  };
  for (const nameOf of [unsignedName, signedName]) await small(nameOf); // warm-up: code runs slowly at first
  const unsigned = await small(unsignedName);
  const signed = await small(signedName);
  const large = await time({ perSecond: LARGE_EDITS_PER_SECOND, target: largeTargetOf(made) });
  const costsWithNode = await measureCosts(made, server.program.pid);
  const more = percentile(signed.sinceSentMs, 0.5) - percentile(unsigned.sinceSentMs, 0.5);
  return {
    part: 'signed_edits',
    title: 'Edits of signed domains under load',
    blocks: [
      `${count(domains)} unsigned and ${count(domains)} signed domains of the recipe, and a signed one of ${count(names)} names; ` +
        `${count(QUERIES_PER_SECOND)} queries with DO per second. Each edit replaces an address as the API does: planned, signed and ` +
        'committed in one transaction. Postgres, dnsperf and the process that edits share a core.',
      visibleTable([
        [`unsigned, ${EDITS_PER_SECOND} edits per second`, unsigned, LIMITS.p99],
        [`signed, ${EDITS_PER_SECOND} edits per second`, signed, LIMITS.p99],
        [
          `signed, one record of ${count(names)} names, ${LARGE_EDITS_PER_SECOND} edits per second`,
          large,
          LIMITS.largeP99,
        ],
      ]),
      `Signing adds to p50: ${judged(more, LIMITS.moreP50, 1)} ms. Reached: ${fixed(signed.edits / signed.seconds, 0)} edits per second. ` +
        'Processor time of an edit, without queries and HTTP, in ms:',
      costTable(costs, costsWithNode),
    ],
    charts: [],
  };
}

/** Targets of successive edits: one name of each of the small domains in turn. */
function targetOf({ domains }: SignedDomains, nameOf: (index: number) => string, first = 0): EditTarget {
  return (n) => {
    const zone = nameOf((n + first) % domains);
    return { zone, owner: `www.${zone}` };
  };
}

function largeTargetOf({ names }: SignedDomains): EditTarget {
  return (n) => ({ zone: LARGE, owner: `${largeOwner((n * STEP) % names)}.${LARGE}` });
}

/** Processor time of one edit in milliseconds. */
interface EditCost {
  readonly postgres: number;
  readonly program: number;
  readonly node: number;
}

/** Returns the costs of edits that are made one after the other without queries: unsigned, signed, large. */
async function measureCosts(made: SignedDomains, nodePid?: number): Promise<EditCost[]> {
  const costs: EditCost[] = [];
  for (const target of [targetOf(made, unsignedName), targetOf(made, signedName), largeTargetOf(made)])
    costs.push(await costOfEdits(made.url, target, nodePid));
  return costs;
}

let network = 0;

async function costOfEdits(url: string, target: EditTarget, nodePid?: number): Promise<EditCost> {
  const writer = await openDomainWriter(url);
  network++; // each edit changes an address
  const edit = (n: number) =>
    writer.write([{ ...target(n), address: Buffer.from([198, network, n >> 8, n & 0xff]) }]);
  const { pid } = await benchCluster();
  const used = () => {
    const { user, system } = process.cpuUsage();
    const [postgres, node] = [pid, nodePid].map((each) => (each === undefined ? 0 : cpuSeconds(each)));
    return { postgres: postgres as number, node: node as number, program: (user + system) / 1e6 };
  };
  for (let n = 0; n < WARM_UP_EDITS; n++) await edit(n);
  const before = used();
  for (let n = WARM_UP_EDITS; n < WARM_UP_EDITS + CPU_EDITS; n++) await edit(n);
  const after = used();
  await writer.end();
  const of = (key: keyof EditCost) => ((after[key] - before[key]) * 1000) / CPU_EDITS;
  return { postgres: of('postgres'), program: of('program'), node: of('node') };
}

/** The last two columns show what each node adds. */
function costTable(costs: readonly EditCost[], withNode: readonly EditCost[]): string {
  const limits = [LIMITS.cpuMs, undefined, LIMITS.largeCpuMs];
  return table(
    ['', 'Postgres', 'this program', 'both', 'a node', 'Postgres for a node'],
    ['unsigned', 'signed', 'signed, large'].map((label, i) => {
      const { postgres, program } = costs[i] as EditCost;
      const followed = withNode[i] as EditCost;
      return [
        label,
        fixed(postgres, 1),
        fixed(program, 1),
        judged(postgres + program, limits[i], 1),
        fixed(followed.node, 1),
        fixed(Math.max(0, followed.postgres - postgres), 1),
      ];
    }),
  );
}

/** Saves edits as the API does, signatures included. */
async function openDomainWriter(url: string): Promise<EditWriter> {
  const db: Database = openDatabase(url);
  useSecrets(db);
  const rows = await runOn(url, 'select id, name from domains');
  const idOf = new Map(rows.map(({ id, name }) => [name as string, Number(id)]));
  return {
    async write(edits) {
      for (const { zone, owner, address } of edits) {
        const apex = parseName(zone);
        const name = owner.slice(0, -zone.length - 1);
        const order = edit({ replace: [[name, 'A', `300 A ${address.join('.')}`]] }, apex);
        await saved(db, idOf.get(zone) as number, order);
      }
    },
    end: () => db.destroy(),
  };
}
