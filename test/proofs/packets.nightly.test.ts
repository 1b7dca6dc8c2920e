// Whatever arrives: random octets, mutated queries, mutated answers. Never an exception, a wrong message, a hang or
// more memory; and afterwards the server answers as before.

import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../src/nameserver/answer/amplification-limit.ts';
import { QueryCounters } from '../../src/nameserver/answer/query-counters.ts';
import { RateLimit } from '../../src/nameserver/answer/response-rate-limit.ts';
import { DEFAULT_TCP_LIMITS, listenTcp } from '../../src/nameserver/tcp/tcp.ts';
import { listenUdp } from '../../src/nameserver/udp/udp.ts';
import { assemble, queryFor, summarize } from '../support/answer/packets.ts';
import { exchangeUdp, framed, TcpClient } from '../support/answer/sockets.ts';
import { answerQuery, ask, type Client, testNode, udpClient } from '../support/answer/test-node.ts';
import { collectingLog } from '../support/processes/follow.ts';
import { pick, type Random, randomFrom } from '../support/random/random-zones.ts';
import { heapOctets } from '../support/tests/heap-octets.ts';
import { scale } from '../support/tests/scale.ts';
import { until } from '../support/tests/until.ts';

const HEADER_OCTETS = 12;

function seeds(): Buffer[] {
  const text = readFileSync(new URL('../../fixtures/packets/queries.txt', import.meta.url), 'utf8');
  const queries = text
    .split(/^== /m)
    .slice(1)
    .map((block) => assemble(block.split('\n')[1] as string));
  const node = testNode();
  const answers = queries.map((query) => Buffer.from(ask(query, node))).filter((answer) => answer.length > 0);
  for (const answer of answers) answer[2] = (answer[2] as number) & 0x7f; // else all would be silence
  return [...queries, ...answers];
}

const NAMES = ['www', 'big', 'mx', 'c1', 'a.sub', 'x.wild', 'nx', '*', 'ns1.sub'];

function randomPacket(random: Random, from: readonly Buffer[]): Uint8Array {
  const below = (limit: number) => Math.floor(random() * limit);
  const kind = random();
  if (kind < 0.15) return Uint8Array.from({ length: below(random() < 0.9 ? 80 : 4000) }, () => below(256));
  if (kind < 0.3) {
    // A header that promises little, and anything behind it.
    const packet = Buffer.from(Array.from({ length: HEADER_OCTETS + below(120) }, () => below(256)));
    packet[2] = pick(random, [0, 1, 0x28, 0x78]);
    for (let i = 4; i < HEADER_OCTETS; i++) packet[i] = i % 2 === 0 ? 0 : below(3);
    return packet;
  }
  if (kind < 0.45) {
    const opt =
      random() < 0.5 ? {} : { opt: `size=${below(65536)} nsid cookie:${'ab'.repeat(below(42))} zoneversion` };
    return queryFor(
      `${pick(random, NAMES)}.example.test.`,
      pick(random, [1, 2, 15, 16, 255, below(65536)]),
      opt,
    );
  }
  return mutated(random, pick(random, from));
}

function mutated(random: Random, packet: Buffer): Buffer {
  const below = (limit: number) => Math.floor(random() * limit);
  let copy: Buffer = Buffer.from(packet);
  for (let i = below(4); i >= 0; i--) {
    const at = below(copy.length);
    switch (below(5)) {
      case 0: // other octet
        if (copy.length > 0) copy[at] = below(256);
        break;
      case 1: // other bit
        if (copy.length > 0) copy[at] = (copy[at] as number) ^ (1 << below(8));
        break;
      case 2: // cut
        copy = copy.subarray(0, at);
        break;
      case 3: // a part twice
        copy = Buffer.concat([copy.subarray(0, at), copy.subarray(below(at + 1))]);
        break;
      default: // octets inserted
        copy = Buffer.concat([
          copy.subarray(0, at),
          Buffer.from(Array.from({ length: 1 + below(8) }, () => below(256))),
          copy.subarray(at),
        ]);
    }
  }
  return copy;
}

test('random and mutated packets are answered by well-formed messages or silence', () => {
  const count = scale(100_000, 10_000);
  const random = randomFrom(20_261);
  const from = seeds();
  const node = testNode({
    rateLimit: new RateLimit(400, 1024),
    amplificationLimit: new AmplificationLimit(20_000, 1024),
  });
  const out = Buffer.alloc(65535);
  let answered = 0;
  let heapBefore = 0;
  for (let i = 0; i < count; i++) {
    if (i === Math.floor(count / 5)) heapBefore = heapOctets();
    const packet = randomPacket(random, from);
    const client: Client =
      random() < 0.3
        ? { transport: 'tcp', address: Uint8Array.of(192, 0, 2, 1) }
        : udpClient(198, 51, Math.floor(random() * 256), 1);
    node.clockMs += 1;
    const length = answerQuery(packet, out, client, node);
    if (length === 0) continue;
    answered++;
    checkAnswer(packet, out.subarray(0, length), client);
  }
  expect(node.failures).toEqual([]);
  expect(answered).toBeGreaterThan(count / 2);
  expect(heapOctets() - heapBefore).toBeLessThan(4 << 20);
});

function checkAnswer(packet: Uint8Array, answer: Uint8Array, client: Client): void {
  const message = decodeMessage(answer);
  const isOurs = message.qr && message.id === (((packet[0] as number) << 8) | (packet[1] as number));
  const isSmall = answer.length <= (client.transport === 'udp' ? 1232 : 65535);
  if (isOurs && isSmall && !message.ra && message.questions.length <= 1) return;
  throw new Error(`${Buffer.from(packet).toString('hex')} got ${summarize(answer)}, ${answer.length} octets`);
}

test('random and mutated packets over UDP leave a server that answers', async () => {
  const count = scale(20_000, 2000);
  const random = randomFrom(20_262);
  const from = seeds();
  const node = testNode();
  const counters = new QueryCounters();
  const { rateLimit: _, amplificationLimit: __, ...settings } = node.settings;
  const listener = await listenUdp({
    addresses: [{ address: '127.0.0.1', port: 0 }],
    io: 'auto',
    threads: 1,
    image: node.image.buffer,
    firstSlot: 1,
    settings,
    counters: () => counters.buffer,
    rateLimit: undefined,
    amplificationLimit: undefined,
    log: collectingLog(),
    reportFailure: (error) => node.failures.push(error),
  });
  const [to] = listener.addresses;
  const socket = createSocket('udp4');
  const probe = queryFor('www.example.test.', TYPE.A, { opt: 'nsid' });
  for (let i = 0; i < count; i++) {
    const packet = randomPacket(random, from);
    socket.send(packet, to!.port, to!.address);
    // The probe keeps the packets within the socket's buffer, and shows that the server still answers.
    if (i % 50 === 49)
      expect(summarize((await exchangeUdp(to!, probe))!)).toBe('NOERROR aa 1/1/0/0 OPT(nsid:6e6f64652d31)');
  }
  const seen = [...counters.answerCounts()].reduce((sum, { count: answers }) => sum + answers, 0);
  expect(seen + counters.ignored).toBe(count + count / 50);
  expect(node.failures).toEqual([]);
  expect(counters.unsent).toBe(0);
  await new Promise<void>((done) => socket.close(() => done()));
  await listener.close();
});

test('random and mutated streams over TCP leave a server that answers, and no connection', async () => {
  const count = scale(4000, 400);
  const random = randomFrom(20_263);
  const from = seeds();
  const node = testNode();
  const limits = {
    ...DEFAULT_TCP_LIMITS,
    idleTimeoutMs: 1000,
    maxConnectionsPerAddress: 50,
    maxConnections: 60,
  };
  const listener = await listenTcp([{ address: '127.0.0.1', port: 0 }], node, { limits });
  const [to] = listener.addresses;
  let heapBefore = 0;
  for (let i = 0; i < count; i++) {
    if (i === Math.floor(count / 5)) heapBefore = heapOctets();
    const client = await TcpClient.open(to!, { reads: random() < 0.8 });
    const packets = Array.from({ length: 1 + Math.floor(random() * 10) }, () => randomPacket(random, from));
    const stream = random() < 0.8 ? framed(...packets) : Buffer.concat(packets);
    client.socket.write(
      stream.subarray(0, random() < 0.7 ? stream.length : Math.floor(random() * stream.length)),
    );
    await leave(client, random());
  }
  await until(() => listener.connections() === 0, 'no connection is left');
  expect(heapOctets() - heapBefore).toBeLessThan(8 << 20);
  const client = await TcpClient.open(to!);
  client.socket.write(framed(queryFor('www.example.test.', TYPE.A)));
  expect(summarize((await client.received(1))[0]!)).toBe('NOERROR aa 1/1/0/0');
  expect(node.failures).toEqual([]);
  client.close();
  await listener.close();
});

/** Ends the connection in one of the ways that clients do: in order, at once, by a reset, or not at all. */
async function leave(client: TcpClient, how: number): Promise<void> {
  if (how < 0.4) {
    client.socket.end();
    client.socket.resume();
    if (!client.socket.closed) await once(client.socket, 'close');
  } else if (how < 0.6) client.socket.destroy();
  else if (how < 0.8) client.socket.resetAndDestroy();
}
