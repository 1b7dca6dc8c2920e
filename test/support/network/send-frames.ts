// Tasks of an agent that send malformed and unusual frames.

import { setImmediate as nextRound, setTimeout as pause } from 'node:timers/promises';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';
import { queryFor } from '../answer/packets.ts';
import { mutateOctets } from '../random/mutate-octets.ts';
import { pick, randomFrom } from '../random/random-zones.ts';
import { QueryStream } from './compared-queries.ts';
import { BATCH, DatagramSocket } from './datagrams.ts';
import { checksum, encodeUdpFrame, type Route } from './frames.ts';
import { ADDRESSES, XDP_INTERFACE } from './linked-hosts.ts';

export interface Target {
  readonly port: number;
  readonly macs: { readonly server: Uint8Array; readonly client: Uint8Array };
}

const MAX_FRAME_OCTETS = 1514;
const MAX_QUERY_OCTETS = MAX_FRAME_OCTETS - 14 - 4 - 40 - 8; // after the headers of Ethernet, VLAN, IPv6 and UDP
const FROM_PORT = 5600;
const TAGS = [undefined, 7, 0x6fff];
const QUERY = queryFor('www.example.test.', 1, { opt: '' });

function routes({ port, macs }: Target): Route[] {
  return (['ipv4', 'ipv6'] as const).flatMap((family) =>
    TAGS.map((tag) => ({
      from: { mac: macs.client, address: ADDRESSES.client[family], port: FROM_PORT },
      to: { mac: macs.server, address: ADDRESSES.xdp[family], port },
      ...(tag !== undefined && { tag }),
    })),
  );
}

/**
 * Sends frames of every length: the beginnings of long ones, random octets after the headers, and queries followed by other
 * octets. Returns the number that the system accepted: it rejects those without a whole Ethernet header.
 */
export async function sendEveryLength(target: Target): Promise<number> {
  const random = randomFrom(1);
  const garbage = Buffer.from(Array.from({ length: MAX_FRAME_OCTETS }, () => Math.floor(random() * 256)));
  const frames: Buffer[] = [];
  for (const route of routes(target)) {
    const full = encodeUdpFrame(route, garbage.subarray(0, MAX_QUERY_OCTETS));
    const query = encodeUdpFrame(route, QUERY);
    for (let octets = 0; octets <= MAX_FRAME_OCTETS; octets++) {
      const headers = full.subarray(0, 14 + (octets % 50));
      frames.push(full.subarray(0, octets));
      frames.push(Buffer.concat([headers, garbage]).subarray(0, octets));
      frames.push(Buffer.concat([query, garbage]).subarray(0, octets));
    }
  }
  return await sendAll(frames);
}

/** Sends frames with random changes. Returns the number that the system accepted. */
export async function sendMutated(target: Target, count: number, seed: number): Promise<number> {
  const random = randomFrom(seed);
  const stream = new QueryStream(seed);
  const from = routes(target);
  const socket = DatagramSocket.frames(await openLibc(), XDP_INTERFACE);
  let sent = 0;
  for (let i = 0; i < count; i += BATCH) {
    const frames = Array.from({ length: BATCH }, () => {
      const query = random() < 0.5 ? QUERY : stream.next().subarray(0, MAX_QUERY_OCTETS);
      return mutateOctets(random, encodeUdpFrame(pick(random, from), query)).subarray(0, MAX_FRAME_OCTETS);
    });
    sent += socket.send(frames);
    await nextRound();
  }
  socket.close();
  return sent;
}

/** Sends a query with an IPv4 option that does nothing (RFC 791 §3.1). Returns the rcode of the answer. */
export async function sendOptions(target: Target): Promise<number | undefined> {
  const [route] = routes(target) as [Route];
  const plain = encodeUdpFrame(route, QUERY);
  const frame = Buffer.concat([plain.subarray(0, 34), Buffer.of(1, 1, 1, 0), plain.subarray(34)]);
  frame[14] = 0x46;
  frame.writeUInt16BE(frame.readUInt16BE(16) + 4, 16);
  frame.writeUInt16BE(0, 24);
  frame.writeUInt16BE(checksum(frame.subarray(14, 38)), 24);
  const answers = DatagramSocket.udp(await openLibc(), route.from, route.to);
  await sendAll([frame]);
  let rcode: number | undefined;
  for (let tries = 0; tries < 100 && rcode === undefined; tries++) {
    answers.receive((answer) => {
      rcode = (answer[3] as number) & 15;
    });
    await pause(50);
  }
  answers.close();
  return rcode;
}

async function sendAll(frames: readonly Buffer[]): Promise<number> {
  const socket = DatagramSocket.frames(await openLibc(), XDP_INTERFACE);
  let sent = 0;
  for (let i = 0; i < frames.length; i += BATCH) {
    sent += socket.send(frames.slice(i, i + BATCH));
    await nextRound();
  }
  socket.close();
  return sent;
}
