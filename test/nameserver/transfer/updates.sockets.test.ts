// Dynamic updates between the client and the API, without sockets and database.

import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { signMessage } from '../../../src/dns/message/tsig.ts';
import { TsigStreamVerifier } from '../../../src/dns/message/tsig-stream.ts';
import { type Name, parseName } from '../../../src/dns/name.ts';
import { UpdateQueue, type UpdateRows } from '../../../src/nameserver/transfer/updates/update-queue.ts';
import {
  type SignedUpdate,
  WaitingUpdates,
} from '../../../src/nameserver/transfer/updates/waiting-updates.ts';
import { assemble, summarize } from '../../support/answer/packets.ts';
import { keyOf, NOW, signed, slowNode } from '../../support/answer/slow-node.ts';
import { collectingLog } from '../../support/processes/follow.ts';

const CHANGE = { apex: parseName('example.test.'), serial: 8 };

const update = (name = 'www', zone = 'example.test.') =>
  assemble(
    `1234 2800 0001 0000 0001 0000 "${zone}" 0006 0001 "${name}.${zone}" 0001 0001 0000003c 0004 c0000201`,
  );

/** A node whose rows are in memory. */
function updateNode() {
  const rows = new Map<number, Parameters<UpdateRows['offer']>[0][number]>();
  const answers: Awaited<ReturnType<UpdateRows['take']>>[number][] = [];
  const state = { isReachable: true, isBroken: false, servedSerial: 7 };
  const offers: number[][] = [];
  const drops: (readonly number[])[] = [];
  const check = (isSound: boolean) => {
    if (!isSound) throw new Error('no connection');
  };
  const store: UpdateRows = {
    async offer(updates) {
      offers.push(updates.map(({ slot }) => slot));
      for (const offered of updates) rows.set(offered.slot, offered);
      check(!state.isBroken);
    },
    take: async () => answers.splice(0),
    async drop(slots) {
      check(!state.isBroken);
      drops.push(slots);
      for (const slot of slots) rows.delete(slot);
    },
  };
  let queue: UpdateQueue | undefined;
  const node = slowNode({
    updates: ({ poster, counters }) => {
      queue = new UpdateQueue({
        open: async () => {
          check(state.isReachable);
          return store;
        },
        isServed: ({ serial }) => serial <= state.servedSerial,
        poster,
        counters,
        log: collectingLog(),
      });
      return queue;
    },
  });
  const answer = (slot: number, octets: Uint8Array, change?: typeof CHANGE) => {
    rows.delete(slot);
    answers.push({ slot, answer: octets, change });
  };
  /** Returns the messages that were sent, as `id: summary`. */
  const sent = () =>
    node.posted.flatMap(({ id, octets }) => {
      if (octets === undefined) return [`${id}: dropped`];
      const framed = octets[2] !== undefined && (octets[2] & 0x80) === 0;
      return [`${id}: ${summarize(framed ? octets.subarray(2) : octets)}`];
    });
  return { ...node, queue: queue as UpdateQueue, rows, state, offers, drops, answer, sent };
}

/** The answer of the API. */
function answerTo(query: Uint8Array, requestMac: Uint8Array, more = ''): Uint8Array {
  const id = Buffer.from(query.subarray(0, 2)).toString('hex');
  const count = more === '' ? '0000' : '0001';
  const reply = assemble(`${id} a800 0001 0000 0000 ${count} "example.test." 0006 0001 ${more}`);
  return signMessage(reply, keyOf('acme.'), { nowSeconds: NOW, requestMac }).message;
}

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'setImmediate', 'performance'] });
});
afterEach(() => void vi.useRealTimers());

describe('a dynamic update', () => {
  test('is passed on with those of the same round, and answered when the API notifies the node', async () => {
    const node = updateNode();
    const [one, two] = [signed(update('a'), 'acme.'), signed(update('b'), 'other.')];
    node.handle(one.message, { from: '::ffff:192.0.2.7', tcp: false });
    node.handle(two.message, { from: '2001:db8::1' });
    await pass(0);
    expect(node.offers).toEqual([[0, 1]]);
    const deadlineMs = performance.now() + 3000;
    expect([...node.rows.values()]).toEqual([
      { slot: 0, octets: one.message, address: '192.0.2.7', transport: 'udp', deadlineMs },
      { slot: 1, octets: two.message, address: '2001:db8::1', transport: 'tcp', deadlineMs },
    ]);
    node.answer(0, answerTo(one.message, one.mac));
    await node.queue.take();
    expect(node.sent()).toEqual(['1: NOERROR - 1/0/0/1']);
    const verifier = new TsigStreamVerifier(keyOf('acme.'), one.mac);
    expect(verifier.accept(node.posted[0]?.octets as Uint8Array, NOW)).toMatchObject({ kind: 'ok' });
    node.answer(1, answerTo(two.message, two.mac));
    await pass(250);
    expect(node.sent()[1]).toBe('2: NOERROR - 1/0/0/1');
    expect([node.queue.waiting, node.drops]).toEqual([0, []]);
  });

  test.each([
    ['when the image has the change', 8, 0, 5],
    ['after 500 ms if the image does not have it', 7, 0, 500],
    ['also after 3 s, if the API has answered before', 7, 2700, 500],
  ])('is answered %s', async (_, servedSerial, answeredMs, ms) => {
    const node = updateNode();
    const { message, mac } = signed(update(), 'acme.');
    node.handle(message);
    await pass(answeredMs);
    node.answer(0, answerTo(message, mac), CHANGE);
    await node.queue.take();
    node.state.servedSerial = servedSerial;
    await pass(ms - 1);
    expect(node.sent()).toEqual([]);
    await pass(1);
    expect(node.sent()).toEqual(['1: NOERROR - 1/0/0/1']);
  });

  test('takes one slot if it is repeated; 8 transmissions, and all others over TCP, get the answer', async () => {
    const node = updateNode();
    const { message, mac } = signed(update(), 'acme.');
    node.handle(message, { tcp: false });
    await pass(0);
    // A forwarder may change the id.
    const forwarded = Buffer.from(message);
    forwarded.writeUInt16BE(0x4321, 0);
    node.handle(forwarded, { tcp: true });
    for (let i = 2; i < 9; i++) node.handle(message, { tcp: false });
    node.handle(message, { tcp: true });
    await pass(0);
    expect(node.offers).toEqual([[0]]);
    node.answer(0, answerTo(message, mac), { ...CHANGE, serial: 7 });
    await node.queue.take();
    expect(node.sent().slice(0, 3)).toEqual(['9: dropped', '1: NOERROR - 1/0/0/1', '2: NOERROR - 1/0/0/1']);
    expect(node.sent().slice(-2)).toEqual(['8: NOERROR - 1/0/0/1', '10: NOERROR - 1/0/0/1']);
    expect(node.sent()).toHaveLength(10);
    expect(decodeMessage(node.take(2)[0]!).id).toBe(0x4321);
  });

  test('gets SERVFAIL if there is no answer within 3 s, and its row is deleted', async () => {
    const node = updateNode();
    node.handle(signed(update(), 'acme.').message);
    await pass(2999);
    expect(node.sent()).toEqual([]);
    await pass(250);
    expect(node.sent()).toEqual(['1: SERVFAIL - 1/0/0/1']);
    expect([node.rows.size, node.queue.waiting]).toEqual([0, 0]);
    expect(node.counters.state().updates).toEqual([{ outcome: 'late', count: 1 }]);
    await pass(60_000);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each([
    ['cannot be reached', { isReachable: false }, []],
    ['fails', { isBroken: true }, [[0]]],
  ])('gets SERVFAIL with EDE 14 if Postgres %s', async (_, fault, drops) => {
    const node = updateNode();
    Object.assign(node.state, fault);
    const opt = assemble('1234 2800 0001 0000 0000 0001 "example.test." 0006 0001 OPT()');
    node.handle(signed(opt, 'acme.').message);
    await pass(0);
    expect(node.sent()).toEqual(['1: SERVFAIL - 1/0/0/1 OPT(ede:000e)']);
    Object.assign(node.state, { isReachable: true, isBroken: false });
    await pass(500);
    expect([node.drops, node.rows.size]).toEqual([drops, 0]);
  });

  test.each([
    ['before it is passed on', false, [], []],
    ['later', true, [[0]], [[0]]],
  ])('is not answered if its connection ends %s', async (_, isLate, offers, drops) => {
    const node = updateNode();
    const id = node.handle(signed(update(), 'acme.').message);
    if (isLate) await pass(0);
    node.queue.closed(id);
    await pass(4000);
    expect([node.sent(), node.offers, node.drops]).toEqual([[], offers, drops]);
  });

  test('gets only the rcode if the answer is too long for UDP', async () => {
    const node = updateNode();
    const { message, mac } = signed(update(), 'acme.');
    node.handle(message, { tcp: false });
    await pass(0);
    node.answer(0, answerTo(message, mac, `00 0029 04d0 00000000 0204 000f 0200 ${'61'.repeat(512)}`));
    await node.queue.take();
    expect(node.sent()).toEqual(['1: NOERROR - 1/0/0/1']);
  });

  test('gets its answer, or SERVFAIL if there is none, when the node stops', async () => {
    const node = updateNode();
    node.handle(signed(update('a'), 'acme.').message);
    const { message, mac } = signed(update('b'), 'acme.');
    node.handle(message);
    await pass(0);
    node.answer(1, answerTo(message, mac), CHANGE);
    await node.queue.take();
    await node.queue.stop();
    expect(node.sent()).toEqual(['2: NOERROR - 1/0/0/1', '1: SERVFAIL - 1/0/0/1']);
    expect(node.rows.size).toBe(0);
  });

  test('is answered if only the connection of a retransmission has ended', async () => {
    const node = updateNode();
    const { message, mac } = signed(update(), 'acme.');
    const ids = [node.handle(message), node.handle(message)];
    await pass(0);
    node.queue.closed(ids[1]!);
    node.answer(0, answerTo(message, mac));
    await node.queue.take();
    expect(node.sent()).toEqual(['1: NOERROR - 1/0/0/1']);
  });

  test('gets SERVFAIL if it exceeds a limit', async () => {
    const node = updateNode();
    // No key has a grant in this zone.
    for (let i = 0; i < 5; i++) node.handle(signed(update(`n${i}`, 'own.test.'), 'other.').message);
    await pass(0);
    expect(node.sent()).toEqual(['5: SERVFAIL - 1/0/0/1']);
    for (let i = 0; i < 101; i++) node.handle(signed(update(`n${i}`), 'acme.').message);
    await pass(0);
    expect(node.sent()[1]).toBe('106: SERVFAIL - 1/0/0/1');
    expect(node.offers.map(({ length }) => length)).toEqual([4, 100]);
  });
});

describe('waiting updates', () => {
  const request = (i: number, keyId: number, octets = 100) =>
    ({
      message: { id: i, octets: new Uint8Array(octets), transport: 1, address: new Uint8Array(4) },
      signer: { keyId, requestMac: Uint8Array.of(i >> 8, i) },
    }) as unknown as SignedUpdate;

  /** Returns the number of updates that are accepted of 2,000. */
  const accepted = (
    zoneOf: (i: number) => Name,
    keyOf: (i: number) => number,
    { octets = 100, hasGrant = true } = {},
  ) => {
    const waiting = new WaitingUpdates();
    for (let i = 0; i < 2000; i++)
      waiting.add(request(i, keyOf(i), octets), { zone: zoneOf(i), hasGrant }, 0);
    return waiting.size;
  };
  const zone = (i: number) => parseName(`z${i}.test.`);

  test.each([
    [
      '100 of a zone',
      accepted(
        () => zone(1),
        (i) => i,
      ),
      100,
    ],
    ['200 of a key', accepted(zone, () => 1), 200],
    ['1,000 in total', accepted(zone, (i) => i), 1000],
    ['16 MiB in total', accepted(zone, (i) => i, { octets: 0xffff }), 256],
    ['4 of a key without a known grant', accepted(zone, () => 1, { hasGrant: false }), 4],
    ['16 of all such keys', accepted(zone, (i) => i, { hasGrant: false }), 16],
  ])('are limited to %s', (_, count, most) => {
    expect(count).toBe(most);
  });

  test('use a slot again only when its row is deleted, and count no longer when they are removed', () => {
    const waiting = new WaitingUpdates();
    const add = (i: number) => {
      const added = waiting.add(request(i, 1, 0xffff), { zone: zone(1), hasGrant: true }, 0);
      return added.kind === 'added' ? added.update : undefined;
    };
    const slots = new Set<number | undefined>();
    for (let i = 0; i < 1024; i++) {
      const update = add(i)!;
      slots.add(update.slot);
      update.isOffered = i % 2 === 0;
      if (i % 4 === 1) waiting.answered(update.slot!);
      expect([waiting.remove(update), waiting.remove(update)]).toEqual([true, false]);
      expect(waiting.closed(i)).toBeUndefined();
    }
    expect([slots.size, waiting.abandoned.length]).toEqual([1024, 512]);
    for (let i = 0; i < 512; i++) waiting.remove(add(i)!);
    expect(slots).toContain(add(0)?.slot);
    const { abandoned } = waiting;
    waiting.dropped(abandoned);
    waiting.dropped(abandoned);
    expect(waiting.abandoned).toEqual([]);
  });
});
