// Signing of whole zones during edits: a large one, many small ones, and a large batch in a signed one.

import type { Part } from '../part.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { measureSigning, type Signed } from '../signing/measure-signing.ts';
import { signingDatabase } from '../signing/signing-database.ts';
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
          'A process signs while another makes 20 edits a second, each counted from when it is due; Postgres shares both cores with them. The ' +
            'event loop is that of the process that signs. Of one domain its own edits are counted, of many domains those of others.',
          table(
            [
              '',
              'seconds',
              'loop late at most, ms',
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
                `${count(batch)} records that are created in a domain of ${count(names)} names`,
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
