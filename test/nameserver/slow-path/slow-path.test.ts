import { describe, expect, test } from 'vitest';
import { Client } from '../../../src/nameserver/answer/client.ts';
import { SlowPathLimit } from '../../../src/nameserver/slow-path/slow-path-limit.ts';
import { FakeTransfers } from '../../support/answer/fake-transfers.ts';

function clientAt(...address: number[]): Client {
  const client = new Client();
  client.set(0, Uint8Array.from(address));
  return client;
}

const v6 = (...last: number[]) => clientAt(0x20, 1, 0xd, 0xb8, ...Array(12 - last.length).fill(0), ...last);
const LOOPBACK = clientAt(127, 0, 0, 1);
const manyNetworks = (i: number) => clientAt(i >> 8, i, 1, 1);

/** Returns how many of `count` messages are admitted. Each is answered immediately. */
function admitted(limit: SlowPathLimit, count: number, client: (i: number) => Client, nowMs = 1000): number {
  let sum = 0;
  for (let i = 0; i < count; i++) {
    if (!limit.admit(client(i), 100, nowMs)) continue;
    limit.leave();
    sum++;
  }
  return sum;
}

describe('the limit of slow-path messages', () => {
  test.each([
    ['an IPv4 /24', (i: number) => clientAt(192, 0, 2, i & 255), 100, 'network'],
    ['an IPv6 /56', (i: number) => v6(1, i & 255, ...Array(8).fill(i & 255)), 100, 'network'],
    ['two networks', (i: number) => clientAt(192, 0, i & 1, 1), 200, 'network'],
    ['many networks, which share a rate', manyNetworks, 200, 'thread'],
    ['loopback, which shares only the rate of the thread', () => LOOPBACK, 5000, 'thread'],
  ])('admits per second from %s', (_, client, wanted, reason) => {
    const limit = new SlowPathLimit();
    expect(admitted(limit, 8000, client)).toBe(wanted);
    expect(admitted(limit, 8000, client, 1500)).toBe(wanted / 2);
    expect(limit.waiting).toBe(0);
    expect(limit.dropped).toMatchObject({ network: 0, thread: 0, [reason]: 16_000 - 1.5 * wanted });
  });

  test.each([
    ['an IPv4 address', [192, 0, 2, 1], 32, clientAt(192, 0, 2, 1), clientAt(192, 0, 2, 2)],
    ['a prefix inside an octet', [192, 0, 2, 128], 25, clientAt(192, 0, 2, 129), clientAt(192, 0, 2, 127)],
    ['the largest IPv4 network', [192, 0, 0, 0], 16, clientAt(192, 0, 255, 1), clientAt(192, 1, 0, 1)],
    [
      'the largest IPv6 network',
      [0x20, 1, 0xd, 0xb8, ...Array(12).fill(0)],
      32,
      v6(1),
      clientAt(0x20, 1, 0xd, 0xb8),
    ],
  ])('exempts %s from the limits of clients in every thread', (_, address, prefix, inside, outside) => {
    const limit = new SlowPathLimit();
    const other = new SlowPathLimit(limit.memory);
    const peer = { address: Uint8Array.from(address), prefix };
    limit.exempt([{ address: Uint8Array.of(203, 0, 113, 1), prefix: 32 }, peer]);
    expect(admitted(other, 8000, manyNetworks)).toBe(200);
    expect(admitted(other, 500, () => inside)).toBe(500);
    expect(admitted(other, 500, () => outside, 2000)).toBe(100);
    limit.exempt([]);
    expect(admitted(other, 500, () => inside, 3000)).toBe(100);
  });

  test.each([
    ['all of IPv4', [0, 0, 0, 0], 0, clientAt(192, 0, 2, 1)],
    ['an IPv4 /15', [192, 0, 0, 0], 15, clientAt(192, 0, 2, 1)],
    ['an IPv6 /31', [0x20, 1, 0xd, 0xb8, ...Array(12).fill(0)], 31, v6(1)],
  ])('does not exempt %s, which is too large', (_, address, prefix, inside) => {
    const limit = new SlowPathLimit();
    limit.exempt([{ address: Uint8Array.from(address), prefix }]);
    expect(admitted(limit, 500, () => inside)).toBe(100);
  });

  test('exempts at most 1,024 networks', () => {
    const limit = new SlowPathLimit();
    limit.exempt(
      Array.from({ length: 2000 }, (_, i) => ({ address: Uint8Array.of(10, 0, i >> 8, i), prefix: 32 })),
    );
    expect(admitted(limit, 500, () => clientAt(10, 0, 1023 >> 8, 255))).toBe(500);
    expect(admitted(limit, 500, () => clientAt(10, 0, 1024 >> 8, 0))).toBe(100);
  });

  test('admits 2,048 waiting messages of all threads, 1,536 over UDP, and none longer than 4,096 octets', () => {
    const limit = new SlowPathLimit();
    const other = new SlowPathLimit(limit.memory);
    expect(limit.admit(LOOPBACK, 4097, 0)).toBe(false);
    for (let i = 0; i < 1536; i++) expect((i % 2 ? limit : other).admit(LOOPBACK, 4096, 0)).toBe(true);
    expect([limit.admit(LOOPBACK, 12, 0), limit.waiting]).toEqual([false, 1536]);
    for (let i = 1536; i < 2048; i++) expect(limit.enter()).toBe(true);
    expect([other.enter(), limit.waiting]).toEqual([false, 2048]);
    limit.leave();
    expect(other.enter()).toBe(true);
    expect(other.dropped).toEqual({ octets: 1, network: 0, thread: 0, waiting: 2, unanswered: 0 });
  });
});

test.each([
  ['UDP', 0, 60_000],
  ['TCP', 1, 120_000],
] as const)('a message over %s without an answer is forgotten after a time, and the thread learns it', (_, transport, timeoutMs) => {
  let nowMs = 0;
  const transfers = new FakeTransfers(() => nowMs);
  const { slowPath } = transfers;
  const outcomes: string[] = [];
  const receiver = {
    takeAnswer: (id: number) => outcomes.push(`${id} answered`),
    loseAnswer: (id: number) => outcomes.push(`${id} lost`),
  };
  const message = { octets: new Uint8Array(12), transport, address: new Uint8Array(4) };
  for (let i = 0; i < 2; i++) if (slowPath.limit.enter()) slowPath.ask(message, receiver);
  transfers.answer(1);
  nowMs = timeoutMs - 1;
  slowPath.forgetOverdue();
  expect([outcomes, slowPath.limit.waiting]).toEqual([['1 answered'], 1]);
  nowMs++;
  slowPath.forgetOverdue();
  transfers.answer(2);
  expect([outcomes, transfers.idsOf('closed')]).toEqual([['1 answered', '2 lost'], [2]]);
  expect([slowPath.limit.waiting, slowPath.limit.dropped.unanswered]).toEqual([0, 1]);
});
