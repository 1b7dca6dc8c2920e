// NOTIFY to secondaries: the time from the commit of a change to the message, and the rate if all zones change. The peers
// are in this process. One of them is silent.

import { type EditWriter, openRecordWriter } from '../edits/edit-records.ts';
import type { Part, Section } from '../part.ts';
import { pinCluster, runOn } from '../postgres/cluster.ts';
import { zonefleetDatabase } from '../postgres/zonefleet-database.ts';
import { count, fixed, judged, table } from '../report/table.ts';
import { say } from '../say.ts';
import { startZonefleet } from '../servers/zonefleet.ts';
import { percentile } from '../statistics.ts';
import { NotifiedPeer } from '../transfers/notified-peer.ts';
import { makeRecipeZones, recipeName } from '../zones/recipe-zones.ts';

const ZONES = 100_000;
/** The setting NOTIFY_RATE. Its default would take five times as long. */
const RATE = 1000;
const EDITS_PER_SECOND = 50;
const SINGLE_EDITS = 1000;
const ZONES_IN_TRANSACTION = 1000;
const MOST_MS = 60;
const ARRIVAL_MS = 10_000;
const MORE_SECONDS = 30;

interface Burst {
  readonly zones: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly messages: number;
}

export const notify: Part = {
  names: ['notify'],
  async run(options) {
    const zones = options.zones ?? ZONES;
    const set = { ...makeRecipeZones(zones), name: `notify_${zones}` };
    const url = await zonefleetDatabase(set);
    const answering = [await NotifiedPeer.open(true), await NotifiedPeer.open(true)];
    const silent = await NotifiedPeer.open(false);
    await addPeers(url, [...answering, silent]);
    const server = await startZonefleet({
      set,
      databaseUrl: url,
      cpu: options.serverCpu,
      address: '127.0.0.1',
      limitsRates: false,
      timeoutMs: 120_000,
      environment: { NOTIFY_RATE: String(RATE) },
    });
    const unpin = await pinCluster(options.loadCpu);
    const writer = await openRecordWriter(url);
    try {
      const latencies = await timeSingleEdits(writer, answering[0] as NotifiedPeer, zones);
      for (const peer of [...answering, silent]) peer.forget();
      const bursts = await changeAll(writer, answering, zones);
      return [sectionOf(latencies, bursts, zones, silent.timesMs.length)];
    } finally {
      await writer.end();
      await unpin();
      await server.stop();
      for (const peer of [...answering, silent]) peer.close();
      await removePeers(url);
    }
  },
};

async function addPeers(url: string, peers: readonly NotifiedPeer[]): Promise<void> {
  await removePeers(url);
  const values = peers.map(({ port }, n) => `('bench${n}', '{127.0.0.1}', ${port}, '{127.0.0.0/8}')`);
  await runOn(
    url,
    `insert into peers (name, addresses, port, networks) values ${values.join(', ')}`,
    `insert into transfer_policies (name, is_default) values ('bench', true)`,
    `insert into policy_peers (policy_id, peer_id, transfers, notified)
     select t.id, p.id, true, true from transfer_policies t, peers p`,
  );
}

async function removePeers(url: string): Promise<void> {
  await runOn(url, 'delete from policy_peers', 'delete from transfer_policies', 'delete from peers');
}

function edit(n: number) {
  const zone = `${recipeName(n)}.`;
  return { zone, owner: `www.${zone}`, address: Buffer.of(10, n >> 16, n >> 8, n) };
}

/** Returns the milliseconds from the commit of each edit to its NOTIFY. */
async function timeSingleEdits(writer: EditWriter, peer: NotifiedPeer, zones: number): Promise<number[]> {
  const edits = Math.min(SINGLE_EDITS, zones);
  say(`  ${edits} single edits, ${EDITS_PER_SECOND} a second`);
  const arrived = new Map<string, number>();
  peer.onNotify = (zone, atMs) => arrived.set(zone, atMs);
  const committed = new Map<string, number>();
  const startedMs = performance.now();
  for (let n = 0; n < edits; n++) {
    await pause(startedMs + (n * 1000) / EDITS_PER_SECOND - performance.now());
    const each = edit(n);
    await writer.write([each]);
    committed.set(each.zone, performance.now());
  }
  await until(
    () => arrived.size === edits,
    ARRIVAL_MS,
    () => `${edits - arrived.size} edits without NOTIFY`,
  );
  peer.onNotify = () => {};
  return [...committed].map(([zone, atMs]) => Math.max(0, (arrived.get(zone) as number) - atMs));
}

/** Changes every zone, and waits until each answering peer has been notified of all. */
async function changeAll(
  writer: EditWriter,
  peers: readonly NotifiedPeer[],
  zones: number,
): Promise<Burst[]> {
  say(`  ${zones} zones change`);
  const startedMs = performance.now();
  for (let n = 0; n < zones; n += ZONES_IN_TRANSACTION) {
    const many = Math.min(ZONES_IN_TRANSACTION, zones - n);
    await writer.write(Array.from({ length: many }, (_, i) => edit(n + i)));
  }
  const limitMs = (zones / RATE + MORE_SECONDS) * 2000;
  const missing = () => peers.map((peer) => zones - peer.zones.size);
  await until(
    () => missing().every((each) => each === 0),
    limitMs,
    () => `${missing()} zones without NOTIFY`,
  );
  return peers.map(({ timesMs }) => {
    const [first = 0, last = 0] = [timesMs[0], timesMs.at(-1)];
    const messages = timesMs.length;
    const perSecond = ((messages - 1) * 1000) / (last - first);
    return { zones, perSecond, seconds: (last - startedMs) / 1000, messages };
  });
}

function sectionOf(
  latencies: readonly number[],
  bursts: readonly Burst[],
  zones: number,
  toSilent: number,
): Section {
  const isAsSet = (perSecond: number) => Math.abs(perSecond / RATE - 1) <= 0.05;
  return {
    part: 'notify',
    title: 'NOTIFY to secondaries',
    blocks: [
      `${count(zones)} zones, two secondaries that answer and one that does not (in this process), NOTIFY_RATE ${RATE}. ` +
        `The silent one got ${count(toSilent)} messages while all zones changed.`,
      '### From the commit of a change to its NOTIFY',
      table(
        ['', 'edits', 'p50 ms', 'p99 ms', 'slowest ms'],
        [
          [
            `${EDITS_PER_SECOND} edits a second`,
            count(latencies.length),
            fixed(percentile(latencies, 0.5), 1),
            judged(percentile(latencies, 0.99), MOST_MS, 1),
            fixed(Math.max(...latencies), 1),
          ],
        ],
      ),
      '### All zones change',
      table(
        ['', 'zones', 'messages', 'messages a second', 's until the last'],
        bursts.map(({ perSecond, seconds, messages }, n) => [
          `secondary ${n + 1}`,
          count(zones),
          count(messages),
          `${count(perSecond)} (wanted ${RATE} ± 5 %: ${isAsSet(perSecond) ? 'yes' : '**no**'})`,
          judged(seconds, zones / RATE + MORE_SECONDS, 1),
        ]),
      ),
    ],
    charts: [],
    runs: 'one run',
  };
}

async function until(isDone: () => boolean, limitMs: number, message: () => string): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!isDone()) {
    if (performance.now() > deadline) throw new Error(message());
    await pause(10);
  }
}

async function pause(ms: number): Promise<void> {
  if (ms > 0) await new Promise((resolve) => setTimeout(resolve, ms));
}
