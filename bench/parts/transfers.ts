// Zone transfers. `notify`: the time from the commit of a change to the message and to the secondaries, and the rate if all
// zones change; the notified peers are in this process, and one of them is silent. `transfer`: one large zone, out next to
// NSD, Knot and BIND, and in with the workers.

import { openRecordWriter } from '../edits/edit-records.ts';
import type { BenchOptions, Part, Section } from '../part.ts';
import { pinCluster } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { type Contestant, serversNamed, startServers, stopServers } from '../servers/all.ts';
import type { ServerName } from '../servers/server.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { percentile } from '../statistics.ts';
import { apexOf, HostEdits } from '../transfers/host-edits.ts';
import { measureAxfr, measureLatencyDuring } from '../transfers/measure-axfr.ts';
import { measureCopy } from '../transfers/measure-copy.ts';
import { measureHistory } from '../transfers/measure-history.ts';
import { measureIxfr } from '../transfers/measure-ixfr.ts';
import {
  type Burst,
  changeAll,
  EDITS_PER_SECOND,
  MORE_SECONDS,
  RATE,
  timeSecondaries,
  timeSingleEdits,
} from '../transfers/measure-notify.ts';
import { NotifiedPeer } from '../transfers/notified-peer.ts';
import { removePeers, replacePeers, TSIG_SECRETS } from '../transfers/peers.ts';
import { type MeasuredTransfers, RECORDS, transferSection } from '../transfers/transfer-section.ts';
import { TransferClient } from '../transfers/transferring.ts';
import { makeOneZone, type OneZone } from '../zones/one-zone.ts';
import { writeQueries } from '../zones/query-file.ts';
import { makeRecipeZones } from '../zones/recipe-zones.ts';

const ZONES = 100_000;
const MOST_MS = 60;
const MOST_SECONDARY_MS = 300;

export const notify: Part = {
  names: ['notify'],
  async run(options) {
    const zones = options.zones ?? ZONES;
    const set = { ...makeRecipeZones(zones), name: `notify_${zones}` };
    const url = await zonefleetDatabase(set);
    const answering = [await NotifiedPeer.open(true), await NotifiedPeer.open(true)];
    const silent = await NotifiedPeer.open(false);
    await replacePeers(url, { ports: [...answering, silent].map(({ port }) => port), isSigned: false });
    const server = await startZonefleet({
      set,
      databaseUrl: url,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 120_000,
      environment: { NOTIFY_RATE: String(RATE), TSIG_SECRETS },
    });
    const unpin = await pinCluster(options.loadCpu);
    const writer = await openRecordWriter(url);
    try {
      const latencies = await timeSingleEdits(writer, answering[0] as NotifiedPeer, zones);
      for (const peer of [...answering, silent]) peer.forget();
      const bursts = await changeAll(writer, answering, zones);
      const toSilent = silent.timesMs.length;
      const secondaries = serversNamed(options.servers, 'knot', 'bind');
      const answered = await timeSecondaries(writer, url, secondaries, server.port);
      return [notifySection(latencies, bursts, answered, zones, toSilent)];
    } finally {
      await writer.end();
      await unpin();
      await server.stop();
      for (const peer of [...answering, silent]) peer.close();
      await removePeers(url);
    }
  },
};

function notifySection(
  latencies: readonly number[],
  bursts: readonly Burst[],
  answered: ReadonlyMap<string, readonly number[]>,
  zones: number,
  toSilent: number,
): Section {
  const isAsSet = (perSecond: number) => Math.abs(perSecond / RATE - 1) <= 0.05;
  return {
    part: 'notify',
    title: 'NOTIFY to secondaries',
    blocks: [
      `${count(zones)} zones, two secondaries that answer and one that does not (in this process), NOTIFY_RATE ${RATE}. ` +
        `The silent one received ${count(toSilent)} messages while all zones changed.`,
      '### From the commit of a change to its NOTIFY',
      table(
        ['', 'edits', 'p50 ms', 'p99 ms', 'slowest ms'],
        [
          [
            `${EDITS_PER_SECOND} edits per second`,
            count(latencies.length),
            fixed(percentile(latencies, 0.5), 1),
            judged(percentile(latencies, 0.99), MOST_MS, 1),
            fixed(Math.max(...latencies), 1),
          ],
        ],
      ),
      '### All zones change',
      table(
        ['', 'zones', 'messages', 'messages per second', 's until the last'],
        bursts.map(({ perSecond, seconds, messages }, n) => [
          `secondary ${n + 1}`,
          count(zones),
          count(messages),
          `${count(perSecond)} (wanted ${RATE} ± 5 %: ${isAsSet(perSecond) ? 'yes' : '**no**'})`,
          judged(seconds, zones / RATE + MORE_SECONDS, 1),
        ]),
      ),
      ...(answered.size === 0
        ? []
        : [
            '### From the commit of a change until a secondary answers with it',
            table(
              ['', 'edits', 'p50 ms', 'p95 ms', 'slowest ms'],
              [...answered].map(([name, ms]) => [
                name,
                count(ms.length),
                fixed(percentile(ms, 0.5), 1),
                judged(percentile(ms, 0.95), MOST_SECONDARY_MS, 1),
                fixed(Math.max(...ms), 1),
              ]),
            ),
          ]),
    ],
    charts: [],
    runs: 'one run',
  };
}

/** Records of makeOneZone: as many of a name, and those of the apex. */
const RECORDS_OF_NAME = 1.94;
const RECORDS_OF_APEX = 6;
const EDITS = 10_000;
const QUERIES_PER_SECOND = 10_000;
const OTHERS: readonly ServerName[] = ['nsd', 'knot', 'bind'];
const START_MS = 180_000;

export const transfer: Part = {
  names: ['transfer'],
  async run(options) {
    const records = options.zones ?? RECORDS;
    const names = Math.max(100, Math.floor((records - RECORDS_OF_APEX) / RECORDS_OF_NAME));
    const zone = makeOneZone('transfer', names);
    const history = await measureHistory(options);
    const measured = await measureServers(zone, options);
    return [transferSection({ zone, queriesPerSecond: QUERIES_PER_SECOND, history, ...measured })];
  },
};

async function measureServers(
  zone: OneZone,
  options: BenchOptions,
): Promise<Pick<MeasuredTransfers, 'axfr' | 'latency' | 'ixfr' | 'copy'>> {
  const { set } = zone;
  const databaseUrl = await zonefleetDatabase(set);
  const key = await replacePeers(databaseUrl);
  const client = new TransferClient(options.loadCpu);
  const edited = await HostEdits.open(databaseUrl, zone);
  const ours = await startZonefleet({
    set,
    databaseUrl,
    cpu: options.serverCpu,
    address: '127.0.0.1',
    limitsRates: false,
    timeoutMs: START_MS,
    environment: { TSIG_SECRETS },
  });
  const us: Contestant = {
    server: serversNamed(options.servers, 'zonefleet')[0] as Contestant['server'],
    running: ours,
    label: 'Zonefleet',
  };
  const others = await startServers(serversNamed(options.servers, ...OTHERS), set, options, {
    transferKey: key,
    timeoutMs: START_MS,
  });
  const contestants = [us, ...others];
  try {
    const order = { client, apex: apexOf(zone), records: set.records, key };
    let host = 0;
    const change = async ({ running }: Contestant) => {
      if (running === ours) await edited.editUntilAnswered(host++, ours.port);
    };
    const axfr = await measureAxfr(contestants, order, change, options);
    const queries = writeQueries(options.directory, 'transfer', zone.questions(100_000, 3));
    const load = { queries, seconds: options.seconds, rate: QUERIES_PER_SECOND };
    const latency = await measureLatencyDuring(contestants, order, load, options);
    const nsd = others.find(({ server }) => server.name === 'nsd');
    if (nsd === undefined) say('  NSD is not included: transfers in are not measured');
    const copy =
      nsd && (await measureCopy(zone, { whole: nsd.running.port, edited: ours.port }, edited, options));
    const ixfr = await measureIxfr(
      ours,
      edited,
      zone,
      client,
      Math.min(EDITS, 2 * Math.floor(zone.names / 16)),
    );
    return { axfr, latency, ixfr, copy };
  } finally {
    await client.stop();
    await edited.end();
    await stopServers(contestants);
  }
}
