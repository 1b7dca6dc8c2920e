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
import { pinCluster, runOn } from '../postgres/cluster.ts';
import { cpuUsed } from '../postgres/cpu-used.ts';
import { count, fixed, judged } from '../report/table.ts';
import { type LoadOptions, measure } from '../rounds.ts';
import type { RunningServer } from '../servers/server.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { percentile } from '../statistics.ts';
import { warmUp } from '../warm-up.ts';
import { writeQueries } from '../zones/query-file.ts';

const DOMAINS = 1000;
const LARGE_NAMES = 100_000;
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
      return [await measureEdits(node, made, queries, options)];
    } finally {
      await unpin();
      await node.stop();
    }
  },
};

async function measureEdits(
  server: RunningServer,
  { domains, names, url }: SignedDomains,
  queries: string,
  options: BenchOptions,
): Promise<Section> {
  const edns = { kind: 'dnssec' } as const;
  const most = await measure(server, { queries, edns, seconds: options.seconds }, options);
  const load: LoadOptions = { queries, edns, seconds: options.seconds, rate: most.queriesPerSecond / 2 };
  const time = async (edits: Omit<TimedEdits, 'writer' | 'atOnce'>) => {
    const result = await timeEdits(
      server,
      load,
      { ...edits, atOnce: AT_ONCE, writer: await openDomainWriter(url) },
      options,
    );
    return { ...result, cpuMs: await cpuOfEdits(url, edits.target) };
  };
  let first = 0;
  const small = async (nameOf: (index: number) => string) => {
    const offset = first;
    const target: EditTarget = (n) => {
      const zone = nameOf((n + offset) % domains);
      return { zone, owner: `www.${zone}` };
    };
    first += EDITS_PER_SECOND * options.seconds;
    return await time({ perSecond: EDITS_PER_SECOND, target });
  };
  for (const nameOf of [unsignedName, signedName]) await small(nameOf); // warm-up: code runs slowly at first
  const unsigned = await small(unsignedName);
  const signed = await small(signedName);
  const largeTarget: EditTarget = (n) => ({
    zone: LARGE,
    owner: `${largeOwner((n * STEP) % names)}.${LARGE}`,
  });
  const large = await time({ perSecond: LARGE_EDITS_PER_SECOND, target: largeTarget });
  const more = percentile(signed.sinceSentMs, 0.5) - percentile(unsigned.sinceSentMs, 0.5);
  return {
    part: 'signed_edits',
    title: 'Edits of signed domains under load',
    blocks: [
      `${count(domains)} unsigned and ${count(domains)} signed domains of the recipe, and a signed one of ${count(names)} names; ` +
        'questions with DO at half of the maximum. Each edit replaces an address as the API does: planned, signed and ' +
        'committed in one transaction. Postgres, dnsperf and the process that edits share a core.',
      visibleTable([
        [`unsigned, ${EDITS_PER_SECOND} edits a second`, unsigned, LIMITS.p99],
        [`signed, ${EDITS_PER_SECOND} edits a second`, signed, LIMITS.p99],
        [
          `signed, one record of ${count(names)} names, ${LARGE_EDITS_PER_SECOND} edits a second`,
          large,
          LIMITS.largeP99,
        ],
      ]),
      `Signing adds to p50: ${judged(more, LIMITS.moreP50, 1)} ms. Reached: ${fixed(signed.edits / signed.seconds, 0)} edits a second. ` +
        `CPU of Postgres and this program for an edit, without queries: ${judged(unsigned.cpuMs, LIMITS.cpuMs, 1)} ms unsigned, ` +
        `${fixed(signed.cpuMs, 1)} ms signed, ${judged(large.cpuMs, LIMITS.largeCpuMs, 1)} ms in the large zone.`,
    ],
    charts: [],
  };
}

/** Processor time of Postgres and this process for one edit, of edits that are made one after the other without queries. */
async function cpuOfEdits(url: string, target: EditTarget): Promise<number> {
  const writer = await openDomainWriter(url);
  const edit = (n: number) =>
    writer.write([{ ...target(n), address: Buffer.from([198, 18, n >> 8, n & 0xff]) }]);
  for (let n = 0; n < WARM_UP_EDITS; n++) await edit(n);
  const before = await cpuUsed();
  for (let n = WARM_UP_EDITS; n < WARM_UP_EDITS + CPU_EDITS; n++) await edit(n);
  const used = (await cpuUsed()) - before;
  await writer.end();
  return (used * 1000) / CPU_EDITS;
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
