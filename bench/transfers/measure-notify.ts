// Measures NOTIFY after edits: its delay, its rate, and the time until secondaries answer with an edit.

import {
  startTransferPeer,
  type TransferPeer,
  type TransferPeerName,
} from '../../test/support/peers/transfer-peers.ts';
import { freePort } from '../../test/support/processes/free-port.ts';
import { onEnd } from '../cleanup.ts';
import type { EditWriter } from '../edits/edit-records.ts';
import { AnswerWatch } from '../edits/watch-answers.ts';
import { say } from '../say.ts';
import type { Server } from '../servers/server.ts';
import { recipeName } from '../zones/recipe-zones.ts';
import type { NotifiedPeer } from './notified-peer.ts';
import { replacePeers } from './peers.ts';

/** The setting NOTIFY_RATE. Its default would take five times as long. */
export const RATE = 1000;
export const EDITS_PER_SECOND = 50;
export const MORE_SECONDS = 30;
const SINGLE_EDITS = 1000;
const ZONES_IN_TRANSACTION = 1000;
const ARRIVAL_MS = 10_000;
/** At secondaries, which answer after a SOA query and a transfer. */
const SECONDARY_ZONES = 20;
const SECONDARY_EDITS = 100;
const SECONDARY_EDITS_PER_SECOND = 5;
const SECONDARY_START_MS = 60_000;
/** Nodes read the peers every two seconds. */
const RELOAD_MS = 5000;

export interface Burst {
  readonly zones: number;
  readonly perSecond: number;
  readonly seconds: number;
  readonly messages: number;
}

function edit(n: number) {
  const zone = `${recipeName(n)}.`;
  return { zone, owner: `www.${zone}`, address: Buffer.of(10, n >> 16, n >> 8, n) };
}

/** Returns the milliseconds from the commit of each edit to its NOTIFY. */
export async function timeSingleEdits(
  writer: EditWriter,
  peer: NotifiedPeer,
  zones: number,
): Promise<number[]> {
  const edits = Math.min(SINGLE_EDITS, zones);
  say(`  ${edits} single edits, ${EDITS_PER_SECOND} per second`);
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
export async function changeAll(
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

/**
 * Returns, for each of these servers, the milliseconds from the commit of edits until it answers with them. All zones were
 * changed by `changeAll`.
 */
export async function timeSecondaries(
  writer: EditWriter,
  url: string,
  servers: readonly Server[],
  primary: number,
): Promise<Map<string, number[]>> {
  const zones = Array.from({ length: SECONDARY_ZONES }, (_, n) => edit(n));
  const ports = await Promise.all(servers.map(() => freePort()));
  const key = await replacePeers(url, { ports, isSigned: true });
  await pause(RELOAD_MS); // secondaries that are refused try again much later
  const times = new Map<string, number[]>();
  const started: TransferPeer[] = [];
  const watches: AnswerWatch[] = [];
  const undo = onEnd(async () => {
    for (const watch of watches) watch.close();
    await Promise.all(started.map((peer) => peer.stop()));
  });
  try {
    for (const [i, { name, title }] of servers.entries()) {
      const apexes = zones.map(({ zone }) => zone.slice(0, -1));
      started.push(
        await startTransferPeer(name as TransferPeerName, {
          zones: apexes,
          primary,
          key,
          port: ports[i] as number,
        }),
      );
      const watch = await AnswerWatch.open('127.0.0.1', ports[i] as number);
      watches.push(watch);
      times.set(title, []);
      for (const { owner, address } of zones) void watch.untilAnswered(owner, address);
      await until(
        () => watch.waiting === 0,
        SECONDARY_START_MS,
        () => `${title} lacks ${watch.waiting} zones`,
      );
    }
    say(
      `  ${SECONDARY_EDITS} edits, ${SECONDARY_EDITS_PER_SECOND} per second, with ${[...times.keys()].join(' and ')}`,
    );
    const startedMs = performance.now();
    for (let n = 0; n < SECONDARY_EDITS; n++) {
      await pause(startedMs + (n * 1000) / SECONDARY_EDITS_PER_SECOND - performance.now());
      const { zone, owner } = zones[n % zones.length] as ReturnType<typeof edit>;
      const address = Buffer.of(172, 16, n >> 8, n);
      await writer.write([{ zone, owner, address }]);
      const committedMs = performance.now();
      for (const [i, { title }] of servers.entries())
        void watches[i]
          ?.untilAnswered(owner, address)
          .then((atMs) => times.get(title)?.push(atMs - committedMs));
    }
    await until(
      () => watches.every(({ waiting }) => waiting === 0),
      ARRIVAL_MS,
      () => `${watches.map(({ waiting }) => waiting)} edits are not answered`,
    );
    return times;
  } finally {
    await undo();
  }
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
