// Signatures during edits. `signing`: a large zone, many small ones, and a large batch in a signed one. `region_signing`: the
// sets of regions of a large zone whose names are all proxied, the first time and when an edge leaves a region.

import type { EdgeSets } from '../../src/zone/edge-sets.ts';
import type { Part } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { measureRegionSigning, measureSigning, type Signed } from '../signing/measure-signing.ts';
import { proxiedDatabase, signingDatabase } from '../signing/signing-database.ts';
import { percentile } from '../statistics.ts';

const NAMES = 100_000;
const DOMAINS = 10_000;
const BATCH = 10_000;

export const signing: Part = {
  names: ['signing'],
  async run(options) {
    const share = Math.min(1, (options.zones ?? NAMES) / NAMES);
    const [names, domains, batch] = [NAMES, DOMAINS, BATCH].map((full) => Math.round(full * share)) as [
      number,
      number,
      number,
    ];
    say(`${count(names)} names, ${count(domains)} domains`);
    const database = await signingDatabase(names, domains);
    const { whole, enabled, batch: batches } = await measureSigning(database, batch, options);
    const row = (label: string, { done, edits, load }: Signed, limitSeconds: number) => [
      label,
      judged(done.seconds, limitSeconds * share, 1),
      judged(done.lateMs.worst, 50, 0),
      fixed(done.lateMs.p99, 1),
      count(edits.length),
      fixed(percentile(edits, 0.5), 1),
      judged(percentile(edits, 0.99), 100, 0),
      fixed(load, 1),
    ];
    return [
      {
        part: 'signing',
        title: 'Signing',
        blocks: [
          'One process signs while another makes 20 edits per second, each measured from its due time. Postgres shares both cores with them. The ' +
            'event loop is that of the signing process. Edits are those of the signed domain or, if many are signed, of other domains.',
          table(
            [
              '',
              'seconds',
              'maximum event loop delay, ms',
              'p99',
              'edits',
              'p50 ms',
              'p99 ms',
              'load of the machine',
            ],
            [
              row(`${count(names)} names, NSEC, until DNSKEY is served`, whole.nsec, 30),
              row(`${count(names)} names, NSEC3`, whole.nsec3, 30),
              row(`${count(domains)} domains of 8 names, from the goal to signatures`, enabled, 120),
            ],
          ),
          table(
            ['', 'unsigned, s', 'signed, s', 'ratio', 'load of the machine'],
            [
              [
                `${count(batch)} records created in a domain of ${count(names)} names`,
                fixed(batches.unsigned, 2),
                fixed(batches.signed, 2),
                judged(batches.signed / batches.unsigned, 2),
                fixed(batches.load, 1),
              ],
            ],
          ),
        ],
        charts: [],
      },
    ];
  },
};

const REGIONS_LIMIT_SECONDS = 60;

const region = (name: string, host: number, edges: readonly number[]) => ({
  region: name,
  v4: [edges.map((edge) => `203.0.113.${host + edge}`)],
  v6: [edges.map((edge) => `2001:db8:e::${host + edge}`)],
});
const others = [region('us', 20, [0, 1]), region('as', 40, [0, 1])];
const WHOLE: EdgeSets = { version: 1, countries: {}, regions: [region('eu', 1, [0, 1]), ...others] };
const WITHOUT_ONE: EdgeSets = { version: 2, countries: {}, regions: [region('eu', 1, [0]), ...others] };

export const regionSigning: Part = {
  names: ['region_signing'],
  async run(options) {
    const names = options.zones ?? NAMES;
    say(`${count(names)} proxied names, three regions`);
    const wanted = [
      { label: 'three regions for the first time', sets: WHOLE, signatures: 6 * names },
      { label: 'an edge leaves a region', sets: WITHOUT_ONE, signatures: 2 * names },
    ];
    const measured = await measureRegionSigning(await proxiedDatabase(names), wanted);
    const rows = measured.map(({ done, edits, load }, i) => [
      wanted[i]?.label as string,
      count(wanted[i]?.signatures as number),
      judged(done.seconds, (REGIONS_LIMIT_SECONDS * names) / NAMES, 1),
      fixed(done.cpuSeconds, 1),
      judged(done.lateMs.worst, 50, 0),
      count(edits.length),
      fixed(percentile(edits, 0.5), 1),
      judged(percentile(edits, 0.99), 100, 0),
      fixed(load, 1),
    ]);
    const head = [
      '',
      'signatures',
      'seconds',
      'CPU of the signer, s',
      'maximum event loop delay, ms',
      'edits',
      'p50 ms',
      'p99 ms',
      'load of the machine',
    ];
    return [
      {
        part: 'region_signing',
        title: 'Signatures for regions',
        blocks: [
          `A signed domain of ${count(names)} proxied names, with addresses of both families in three regions. A process signs the sets while another makes 20 ` +
            'edits per second in the same domain, each measured from its due time. Postgres shares both cores with them.',
          table(head, rows),
        ],
        charts: [],
        runs: 'one run',
      },
    ];
  },
};
