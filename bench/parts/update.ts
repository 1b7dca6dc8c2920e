// Writes by existing tools: signed UPDATE messages, the PowerDNS API (compared with PowerDNS), lego's httpreq, and the list of
// records for external-dns.

import { setTimeout as pause } from 'node:timers/promises';
import type { ApiUnderTest } from '../api/api-under-test.ts';
import { call } from '../api/api-under-test.ts';
import { startPowerdnsApi } from '../api/powerdns-api.ts';
import type { BenchOptions, Part } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { atLeast, count, fixed, judged, table } from '../report/table.ts';
import { median, percentile } from '../statistics.ts';
import { measureExternalDns } from '../updates/measure-external-dns.ts';
import { type Repeated, repeat } from '../updates/repeat.ts';
import { UpdateClient } from '../updates/update-client.ts';
import { startUpdatedFleet, type UpdatedFleet, ZONES } from '../updates/updated-fleet.ts';

const CLIENTS = 16;
const PRESENTED = 100;
/** Time within which nodes know new grants. Until then, they accept only a few updates of the key. */
const GRANTS_KNOWN_MS = 6000;

export const update: Part = {
  names: ['update'],
  async run(options) {
    const unpin = await pinCluster(options.loadCpu);
    const fleet = await startUpdatedFleet(options);
    const hasPowerdns = options.servers.some(({ name }) => name === 'powerdns');
    const powerdns = hasPowerdns ? await startPowerdnsApi(options.serverCpu) : undefined;
    try {
      await pause(GRANTS_KNOWN_MS);
      const updates = await measureUpdates(fleet, options);
      await fleet.addNode();
      const presented = await measurePresent(fleet);
      const patched = await measurePatches(fleet, powerdns, options);
      const listed = await measureExternalDns(fleet);
      return [
        {
          part: 'update',
          title: 'Dynamic update and the APIs of other systems',
          blocks: [
            `The API and the nameservers (one for UPDATE, two for the others) share one core; Postgres and the clients have the other. Each of ${CLIENTS} clients sends its next write as soon as the previous one is answered.`,
            table(
              ['signed UPDATE over UDP', 'per second', 'p50 ms', 'p99 ms'],
              [
                ['one domain', rate(updates.one, 200), ...times(updates.one, 100)],
                [`${ZONES} domains`, rate(updates.many, 600), ...times(updates.many, 100)],
              ],
            ),
            'The node answers after the commit, and after its own image has the change.',
            table(
              ['PATCH of one set (PowerDNS API)', 'per second', 'p50 ms', 'Zonefleet ÷ PowerDNS'],
              patchRows(patched),
            ),
            table(
              ['', 'p50 ms', 'p95 ms'],
              [
                [
                  '`POST /httpreq/present`',
                  fixed(median(presented), 0),
                  judged(percentile(presented, 0.95), 500, 0),
                ],
              ],
            ),
            table(
              ['external-dns', 'sets', 'seconds', 'memory of the API, MiB'],
              [
                [
                  '`GET /external-dns/records`',
                  count(listed.sets),
                  judged(listed.seconds, 1),
                  judged(listed.addedMib, 64, 0),
                ],
              ],
            ),
          ],
          charts: [],
        },
      ];
    } finally {
      await powerdns?.stop();
      await fleet.stop();
      await unpin();
    }
  },
};

async function measureUpdates({ dnsPort, key, zones }: UpdatedFleet, { seconds }: BenchOptions) {
  const client = await UpdateClient.open(dnsPort, key);
  const run = (name: string, among: number) =>
    repeat((n) => client.add(zones[n % among] as string, `${name}${n}`), { clients: CLIENTS, seconds });
  await run('warm', ZONES);
  const measured = { one: await run('one', 1), many: await run('many', ZONES) };
  client.close();
  return measured;
}

async function measurePresent({ base, headers, zones }: UpdatedFleet): Promise<readonly number[]> {
  const ms: number[] = [];
  for (let n = 0; n < PRESENTED; n++) {
    const body = { fqdn: `_acme-challenge.${zones[n % zones.length]}.`, value: `token${n}` };
    const startedMs = performance.now();
    await call(`${base}/httpreq/present`, { headers, method: 'POST', body });
    ms.push(performance.now() - startedMs);
  }
  return ms;
}

interface Patched {
  readonly label: string;
  readonly runs: readonly Repeated[];
}

/** Measures both servers alternately. */
async function measurePatches(
  { base, headers, zones }: UpdatedFleet,
  powerdns: ApiUnderTest | undefined,
  { rounds, seconds }: BenchOptions,
): Promise<readonly Patched[]> {
  const contestants = [
    {
      label: 'Zonefleet',
      url: (zone: string) => `${base}/api/v1/servers/localhost/zones/${zone}.`,
      headers,
    },
  ];
  if (powerdns !== undefined) {
    for (const zone of zones) await powerdns.load(zone, []);
    const { url: shown, headers } = powerdns.repeated('ZONE').list;
    contestants.push({ label: powerdns.label, url: (zone) => shown.replace('ZONE', zone), headers });
  }
  const runs = contestants.map((): Repeated[] => []);
  for (let round = 0; round < rounds; round++) {
    for (const [i, { url, headers }] of contestants.entries()) {
      const patch = async (n: number) => {
        const zone = zones[n % zones.length] as string;
        const name = `patched${n % 1000}.${zone}.`;
        // No call repeats a content, which would change nothing.
        const content = `10.${round}.${(n >> 8) & 255}.${n & 255}`;
        const records = [{ content, disabled: false }];
        const rrsets = [{ name, type: 'A', ttl: 300, changetype: 'REPLACE', records }];
        await call(url(zone), { headers, method: 'PATCH', body: { rrsets } });
      };
      runs[i]?.push(await repeat(patch, { clients: CLIENTS, seconds }));
    }
  }
  return contestants.map(({ label }, i) => ({ label, runs: runs[i] ?? [] }));
}

function patchRows(patched: readonly Patched[]) {
  const [ours, theirs] = patched;
  const ratios = theirs?.runs.map(({ perSecond }, i) => (ours?.runs[i]?.perSecond ?? 0) / perSecond) ?? [];
  return patched.map(({ label, runs }, i) => [
    label,
    count(median(runs.map(({ perSecond }) => perSecond))),
    fixed(median(runs.flatMap(({ ms }) => ms)), 1),
    i === 0 && ratios.length > 0 ? atLeast(median(ratios), 1) : '',
  ]);
}

function rate({ perSecond }: Repeated, wanted: number): string {
  return `${count(perSecond)} (wanted ≥ ${wanted}: ${perSecond >= wanted ? 'yes' : '**no**'})`;
}

function times({ ms }: Repeated, most: number): string[] {
  return [fixed(median(ms), 1), judged(percentile(ms, 0.99), most, 1)];
}
