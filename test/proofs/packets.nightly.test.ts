// Random octets, mutated queries and mutated answers cause no exception, wrong message, hang or growing memory.
// test/nameserver/udp and test/nameserver/tcp prove that sockets survive them.

import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { decodeMessage } from '../../src/dns/message/message.ts';
import { signMessage } from '../../src/dns/message/tsig.ts';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { AmplificationLimit } from '../../src/nameserver/answer/amplification-limit.ts';
import { SLOW_PATH } from '../../src/nameserver/answer/answer-query.ts';
import { RateLimit } from '../../src/nameserver/answer/response-rate-limit.ts';
import { assemble, queryFor, summarize } from '../support/answer/packets.ts';
import { answerQuery, ask, type Client, testNode, udpClient } from '../support/answer/test-node.ts';
import { mutateOctets } from '../support/random/mutate-octets.ts';
import { pick, type Random, randomFrom } from '../support/random/random-zones.ts';
import { heapOctets } from '../support/tests/heap-octets.ts';
import { scale } from '../support/tests/scale.ts';

const HEADER_OCTETS = 12;

function seeds(): Buffer[] {
  const text = readFileSync(new URL('../../fixtures/packets/queries.txt', import.meta.url), 'utf8');
  const queries = text
    .split(/^== /m)
    .slice(1)
    .map((block) => assemble(block.split('\n')[1] as string));
  const node = testNode();
  const answers = queries.map((query) => Buffer.from(ask(query, node))).filter((answer) => answer.length > 0);
  for (const answer of answers) answer[2] = (answer[2] as number) & 0x7f; // otherwise all packets would be ignored
  return [...queries, ...answers, ...slowPathMessages()];
}

/** Returns messages for the transfer thread. */
function slowPathMessages(): Buffer[] {
  const key = { name: parseName('a.key.'), algorithm: 'hmac-sha256', secret: Buffer.alloc(32) } as const;
  const notify = assemble('1234 2400 0001 0000 0000 0000 "example.test." 0006 0001');
  const unsigned = [TYPE.SOA, TYPE.IXFR, TYPE.AXFR].map((type) =>
    queryFor('example.test.', type, { opt: '' }),
  );
  const signed = [notify, ...unsigned].map((one) => signMessage(one, key, { nowSeconds: 1 }).message);
  return [notify, ...unsigned, ...signed.map((one) => Buffer.from(one))];
}

const NAMES = ['www', 'big', 'mx', 'c1', 'a.sub', 'x.wild', 'nx', '*', 'ns1.sub'];

function randomPacket(random: Random, from: readonly Buffer[]): Uint8Array {
  const below = (limit: number) => Math.floor(random() * limit);
  const kind = random();
  if (kind < 0.15) return Uint8Array.from({ length: below(random() < 0.9 ? 80 : 4000) }, () => below(256));
  if (kind < 0.3) {
    // A header with small counts, followed by random octets.
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
  return mutateOctets(random, pick(random, from));
}

test('random and mutated packets are answered by well-formed messages or silence', () => {
  const count = scale(1_000_000, 10_000);
  const random = randomFrom(20_261);
  const from = seeds();
  const node = testNode({
    hasTransfers: true,
    rateLimit: new RateLimit(400, 1024),
    amplificationLimit: new AmplificationLimit(20_000, 1024),
  });
  const out = Buffer.alloc(65535);
  let answered = 0;
  let slow = 0;
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
    if (length === SLOW_PATH) {
      slow++;
      continue;
    }
    answered++;
    checkAnswer(packet, out.subarray(0, length), client);
  }
  expect(node.failures).toEqual([]);
  expect(answered).toBeGreaterThan(count / 2);
  expect(slow).toBeGreaterThan(count / 1000);
  expect(heapOctets() - heapBefore).toBeLessThan(4 << 20);
});

function checkAnswer(packet: Uint8Array, answer: Uint8Array, client: Client): void {
  const message = decodeMessage(answer);
  const isOurs = message.qr && message.id === (((packet[0] as number) << 8) | (packet[1] as number));
  const isSmall = answer.length <= (client.transport === 'udp' ? 1232 : 65535);
  if (isOurs && isSmall && !message.ra && message.questions.length <= 1) return;
  throw new Error(`${Buffer.from(packet).toString('hex')} got ${summarize(answer)}, ${answer.length} octets`);
}
