// Tasks of an agent that send the same query until it is answered, or many times.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';
import { queryFor } from '../answer/packets.ts';
import { exchangeUdp } from '../answer/sockets.ts';
import { CLIENT_COOKIE } from './compared-queries.ts';
import { BATCH, DatagramSocket, type Endpoint } from './datagrams.ts';

const NAME = 'www.example.test.';
const QUERY = queryFor(NAME, 1);
const TRY_MS = 100;
const LAST_ANSWER_MS = 1500;

/** Returns the number of tries, each of which waits 100 ms. Throws after `tries`. */
export async function queryUntilAnswered(to: Endpoint, tries: number): Promise<number> {
  for (let count = 1; count <= tries; count++) {
    const answer = await exchangeUdp(to, QUERY, TRY_MS).catch(() => pause(TRY_MS).then(() => undefined));
    if (answer?.length !== undefined && (answer[3] as number) % 16 === 0) return count;
  }
  throw new Error(`${to.address} does not answer within ${tries} tries`);
}

/** Sends datagrams back to their sources until `count` have arrived. */
export async function echoUdp(at: Endpoint, count: number): Promise<void> {
  const socket = createSocket('udp4').bind(at.port, at.address);
  for (let i = 0; i < count; i++) {
    const [octets, from] = await once(socket, 'message');
    socket.send(octets, from.port, from.address);
  }
  await pause(TRY_MS);
  socket.close();
}

/** Sends queries as fast as possible, and does not read the answers. Returns the number that the system accepted. */
export async function floodQueries(from: Endpoint, to: Endpoint, count: number): Promise<number> {
  const socket = DatagramSocket.udp(await openLibc(), from, to);
  const batch = Array.from({ length: BATCH }, () => QUERY);
  let sent = 0;
  for (let i = 0; i < count; i += BATCH) {
    sent += socket.send(batch);
    if (i % (BATCH * 16) === 0) await nextRound();
  }
  socket.close();
  return sent;
}

/** Bursts that were sent and whose answers have not been counted, by the client's port. */
const bursts = new Map<
  number,
  { readonly socket: DatagramSocket; readonly seen: Set<number>; sent: number }
>();

/** Sends up to 65,536 queries with different ids. If `count` is 0, returns the number of ids that were answered instead. */
export async function sendBurst(from: Endpoint, to: Endpoint, count: number): Promise<number> {
  return await burst(from, to, count, QUERY);
}

/** Sends queries with a cookie of the server. Returns the number that were answered. */
export async function countWithCookie(from: Endpoint, to: Endpoint, count: number): Promise<number> {
  const first = await exchangeUdp(to, queryFor(NAME, 1, { opt: `cookie:${CLIENT_COOKIE}` }));
  const option = decodeMessage(first ?? Buffer.alloc(0)).edns?.options.find(({ code }) => code === 10);
  const cookie = Buffer.from(option?.value ?? []).toString('hex');
  await burst(from, to, count, queryFor(NAME, 1, { opt: `cookie:${cookie}` }));
  return await burst(from, to, 0, QUERY);
}

async function burst(from: Endpoint, to: Endpoint, count: number, template: Buffer): Promise<number> {
  const open = bursts.get(from.port) ?? {
    socket: DatagramSocket.udp(await openLibc(), from, to),
    seen: new Set<number>(),
    sent: 0,
  };
  bursts.set(from.port, open);
  for (let id = 0; id < count; id += BATCH) {
    const queries = Array.from({ length: Math.min(BATCH, count - id) }, (_, i) => {
      const query = Buffer.from(template);
      query.writeUInt16BE(id + i, 0);
      return query;
    });
    open.socket.send(queries);
  }
  open.sent += count;
  if (count > 0) return 0;
  for (let since = performance.now(); performance.now() - since < LAST_ANSWER_MS; ) {
    if (open.seen.size === open.sent) break;
    const received = open.socket.receive((answer) => {
      open.seen.add(((answer[0] as number) << 8) | (answer[1] as number));
    });
    if (received > 0) since = performance.now();
    else await pause(1);
  }
  open.socket.close();
  bursts.delete(from.port);
  return open.seen.size;
}
