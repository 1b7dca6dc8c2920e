import { createRequire } from 'node:module';
import { setImmediate as nextRound } from 'node:timers/promises';
import dns2 from 'dns2';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { InheritedAddress } from '../../../src/nameserver/handover/inherited.ts';
import { AskedMarks } from '../../../src/nameserver/image/find/asked-marks.ts';
import { DEFAULT_TCP_LIMITS, type TcpLimits } from '../../../src/nameserver/tcp/limited-connections.ts';
import { listenTcp, type TcpListener } from '../../../src/nameserver/tcp/tcp.ts';
import { FakeTransfers } from '../../support/answer/fake-transfers.ts';
import { queryFor, summarize } from '../../support/answer/packets.ts';
import { framed, TcpClient } from '../../support/answer/sockets.ts';
import { type TestNodeOptions, testNode } from '../../support/answer/test-node.ts';
import { heapOctets } from '../../support/tests/heap-octets.ts';
import { until } from '../../support/tests/until.ts';

const TURN_QUERIES = 64;
const LARGE = Array.from({ length: 240 }, (_, i) => `large TXT "${i} ${'x'.repeat(240)}"`).join('\n');
const WITH_LARGE = `@ SOA ns1 hostmaster 7 3600 600 86400 60\n@ NS ns1\nns1 A 192.0.2.1\nwww A 192.0.2.3\n${LARGE}`;

const www = (id = 1) => queryFor('www.example.test.', TYPE.A, { id });
const large = (id = 1) => queryFor('large.example.test.', TYPE.TXT, { id });
const range = (count: number) => Array.from({ length: count }, (_, i) => i);
const many = (count: number, query = large) => framed(...range(count).map(query));

let open: TcpListener[] = [];
let clients: TcpClient[] = [];
afterEach(async () => {
  for (const client of clients) client.close();
  await Promise.all(open.map((listener) => listener.close()));
  clients = [];
  open = [];
  vi.useRealTimers();
});

interface ListeningOptions extends Partial<TcpLimits> {
  node?: TestNodeOptions;
  now?: () => number;
  inherited?: readonly InheritedAddress[];
  transfers?: FakeTransfers;
}

async function listening({
  node: options,
  now,
  inherited = [],
  transfers,
  ...limits
}: ListeningOptions = {}) {
  const hasTransfers = transfers !== undefined;
  const node = testNode({ hasTransfers, ...(options ?? { zoneText: WITH_LARGE }) });
  const addresses = ['127.0.0.1', '::1'].map((address) => ({ address, port: 0 }));
  const listener = await listenTcp(
    addresses,
    { ...node, slowPath: transfers?.slowPath },
    {
      limits: { ...DEFAULT_TCP_LIMITS, ...limits },
      inherited,
      ...(now && { now }),
    },
  );
  open.push(listener);
  const at = listener.addresses[0]!;
  const connect = async ({ to = at, ...how }: { to?: typeof at; reads?: boolean; from?: string } = {}) => {
    const client = await TcpClient.open(to, how);
    clients.push(client);
    return client;
  };
  const answered = () => [...node.counters.answerCounts()].reduce((sum, { count }) => sum + count, 0);
  return { listener, node, at, connect, answered };
}

const idsOf = ({ messages }: TcpClient) => messages.map((message) => message.readUInt16BE(0));

async function ask(client: TcpClient, count = 1): Promise<void> {
  client.socket.write(framed(www(count)));
  await client.received(count);
}

async function writeSlowly(client: TcpClient, octets: Uint8Array): Promise<void> {
  client.socket.setNoDelay(true);
  for (const octet of octets) {
    client.socket.write(Buffer.of(octet));
    await new Promise((done) => setImmediate(done));
  }
}

describe('a TCP listener', () => {
  test('answers on IPv4 and IPv6, one query after another, and marks unproven zones that receive queries', async () => {
    const asked = new AskedMarks();
    const { listener, connect } = await listening({ node: { unproven: true, asked } });
    for (const to of listener.addresses) {
      const client = await connect({ to });
      client.socket.write(framed(queryFor('example.test.', TYPE.NS, { id: 1 })));
      await client.received(1);
      expect(asked.take()).toEqual([]);
      for (let id = 2; id <= 3; id++) {
        await ask(client, id);
        expect(summarize(client.messages[id - 1]!)).toBe('NOERROR aa 1/1/0/0');
      }
      expect(asked.take().length).toBe(1);
      expect(idsOf(client)).toEqual([1, 2, 3]);
    }
    expect(listener.connections()).toBe(2);
  });

  test('is compatible with dns2', async () => {
    const { at } = await listening();
    const resolve = dns2.TCPClient({ dns: at.address, port: at.port });
    const reply = await resolve('www.example.test', 'A');
    expect(reply.answers).toMatchObject([{ name: 'www.example.test', address: '192.0.2.3' }]);
  });

  test('returns a complete answer of nearly 65,535 octets', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.write(framed(large()));
    const [reply] = await client.received(1);
    expect(reply!.length).toBeGreaterThan(60_000);
    expect(decodeMessage(reply!).answers).toHaveLength(240);
  });

  test('answers all pipelined queries (RFC 7766 §6.2.1.1)', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.write(many(2000, www));
    await client.received(2000);
    expect(idsOf(client).sort((a, b) => a - b)).toEqual(range(2000));
  });

  test('answers the queries before a message that is not DNS, then ends the connection', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.write(Buffer.concat([framed(www(1), www(2)), Buffer.of(0, 2, 0x61, 0x62)]));
    await until(() => client.over, 'ended');
    expect(idsOf(client)).toEqual([1, 2]);
  });

  test('reads queries that arrive octet by octet, including a long one', async () => {
    const { connect } = await listening();
    const client = await connect();
    await writeSlowly(client, framed(www(1), www(2), Buffer.concat([www(7), Buffer.alloc(600)])));
    await client.received(3);
    expect(idsOf(client)).toEqual([1, 2, 7]);
  });

  test('answers the queries received before the client ended its side, then ends its own', async () => {
    const { connect, listener } = await listening();
    const [whole, half] = [await connect(), await connect()];
    whole.socket.end(framed(www(1), large(2), www(3)));
    half.socket.end(framed(www()).subarray(0, 10));
    await whole.received(3);
    await until(() => whole.over && half.over && listener.connections() === 0, 'released');
    expect(half.messages).toHaveLength(0);
  });

  test.each([
    ['0', Buffer.of(0, 0)],
    ['11', framed(Buffer.alloc(11))],
  ])('closes at a message of %s octets, and counts it', async (_, octets) => {
    const { connect, listener, node } = await listening();
    const client = await connect();
    client.socket.write(octets);
    await until(() => client.over, 'closed');
    expect(listener.connections()).toBe(0);
    expect(node.counters.ignored).toBe(1);
  });

  test('does not answer a response, and keeps the connection', async () => {
    const { connect } = await listening();
    const client = await connect();
    const response = www(1);
    response[2] = 0x80;
    client.socket.write(framed(response, www(2)));
    await client.received(1);
    expect(idsOf(client)).toEqual([2]);
  });
});

describe('protection against abuse', () => {
  test('a client that sends nothing is closed', async () => {
    const { connect, listener, node } = await listening({ idleTimeoutMs: 100 });
    const client = await connect();
    await until(() => client.over, 'closed');
    expect(listener.connections()).toBe(0);
    expect(node.counters.tcpExpired).toBe(1);
  });

  test('a client that sends single octets is closed: only whole queries count as progress', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    const { connect, listener } = await listening({ idleTimeoutMs: 10_000 });
    const [dripping, asking] = [await connect(), await connect()];
    const octets = framed(Buffer.concat([www(), Buffer.alloc(60_000)]));
    for (let second = 1; second <= 30; second++) {
      dripping.socket.write(octets.subarray(second - 1, second));
      asking.socket.write(framed(www(second)));
      await asking.received(second); // by then the octet has also been read
      vi.advanceTimersByTime(1000);
      expect(listener.connections(), `after ${second} s`).toBe(second < 10 ? 2 : 1);
    }
    await until(() => dripping.over, 'closed');
    expect(asking.over).toBe(false); // after the idle timeout
  });

  test('a client that never reads gets no further answers, and is closed', async () => {
    const { connect, listener, node, answered } = await listening({ idleTimeoutMs: 300 });
    const queries = many(1000);
    const client = await connect({ reads: false });
    const before = process.memoryUsage().rss;
    // 20,000 answers of 60 KB would be 1.2 GB.
    for (let i = 0; i < 20; i++) client.socket.write(queries);
    await until(() => listener.connections() === 0, 'closed');
    expect(answered()).toBeGreaterThan(0);
    expect(answered()).toBeLessThan(20); // as many as its buffers hold
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
    expect(node.counters.tcpExpired).toBe(1);
  });

  test('a slow client that reads in time gets everything', async () => {
    const { connect } = await listening({ idleTimeoutMs: 2000 });
    const client = await connect();
    const count = 100;
    client.socket.write(many(count));
    const slow = setInterval(() => {
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 10);
    }, 20);
    await client.received(count);
    clearInterval(slow);
    expect(idsOf(client)).toEqual(range(count));
  });

  test('an address is limited to its number of connections, and others keep theirs', async () => {
    const { connect, listener, node } = await listening({ maxConnectionsPerAddress: 5 });
    const first = await Promise.all(range(5).map(() => connect()));
    await until(() => listener.connections() === 5, 'five connections');
    const refused = await Promise.all(range(20).map(() => connect()));
    await until(() => refused.every((client) => client.over), 'refused');
    expect(node.counters.tcpRefused).toBe(20);
    await Promise.all(first.map((client) => ask(client)));
    first[0]!.close();
    await until(() => listener.connections() === 4, 'one less');
    await ask(await connect());
  });

  test('a flood above the total limit closes the longest idle connection, and new clients are answered', async () => {
    const { connect, listener } = await listening({ maxConnections: 10 });
    const active = await connect();
    for (let i = 0; i < 50; i++) {
      await connect();
      await ask(active, i + 1);
      expect(listener.connections()).toBeLessThanOrEqual(10);
    }
    await ask(await connect());
    expect(active.over).toBe(false);
  });

  test('connections cut in the middle of a message or an answer leave nothing behind', async () => {
    const { connect, listener } = await listening({ maxConnectionsPerAddress: 1000 });
    for (let round = 0; round < 3; round++) {
      const some = await Promise.all(range(40).map((i) => connect({ reads: i % 2 === 0 })));
      for (const [i, client] of some.entries()) {
        client.socket.write(framed(large(1), large(2), large(3)).subarray(0, i % 4 === 0 ? 20 : 200));
        if (i % 3 === 0) client.socket.resetAndDestroy();
        else client.socket.destroy();
      }
    }
    await until(() => listener.connections() === 0, 'all released');
    await ask(await connect());
  });

  test('many short connections do not increase memory', async () => {
    const { connect, listener } = await listening();
    const batch = async (count: number) => {
      for (let i = 0; i < count; i += 10) {
        const some = await Promise.all(range(10).map(() => connect()));
        await Promise.all(some.map((client) => ask(client)));
        for (const client of some) client.close();
      }
      clients = [];
      await until(() => listener.connections() === 0, 'all released');
    };
    await batch(50);
    const before = heapOctets();
    await batch(150);
    expect(heapOctets() - before).toBeLessThan(1 << 20);
  });
});

describe('a client with many queries', () => {
  test('does not delay another client, even with large answers on many connections', async () => {
    const { connect, answered } = await listening();
    const greedy = await Promise.all(range(20).map(() => connect({ from: '127.0.0.2' })));
    const modest = await connect();
    await ask(modest);
    for (const client of greedy) client.socket.write(many(25));
    modest.socket.write(framed(www())); // after all of them
    await new Promise((done) => modest.socket.once('data', done));
    expect(answered()).toBeLessThan(100); // of 500
    await Promise.all(greedy.map((client) => client.received(25, 60_000)));
  });

  test('that does not read loses the connection that has waited longest, and others keep theirs', async () => {
    const { connect, node, answered } = await listening({ maxUnreadBytesPerAddress: 700_000 });
    const other = await connect({ reads: false, from: '127.0.0.3' });
    other.socket.write(many(100));
    const idle = await connect({ from: '127.0.0.2' });
    const asked: TcpClient[] = [];
    while (node.counters.tcpUnread < 2) {
      const before = answered();
      const client = await connect({ reads: false, from: '127.0.0.2' });
      client.socket.write(many(100));
      await until(() => answered() > before + 1, 'answered');
      asked.push(client);
    }
    for (const client of asked) client.socket.write(many(1)); // a client that does not read detects the end when it writes
    await until(() => asked.filter((client) => client.over).length >= 2, 'two are closed');
    // The newest has waited least. The order of the others depends on the kernel's last reads.
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.at(-1)?.over).toBe(false);
    expect(other.over).toBe(false);
    expect(idle.over).toBe(false);
  });

  test('that does not read, from many addresses, leaves space for those that read', async () => {
    const { connect, node } = await listening({ maxUnreadBytes: 2 << 20 });
    const modest = await connect();
    for (let i = 1; i <= 40; i++) {
      const client = await connect({ reads: false, from: `127.0.1.${i}` });
      client.socket.write(many(100));
    }
    await until(() => node.counters.tcpUnread > 20, 'most are closed');
    modest.socket.write(framed(www(), large()));
    await modest.received(2);
  });

  test('is answered at its rate and loses nothing, while others are answered', async () => {
    let nowMs = 0;
    const limits = { queriesPerSecond: 100, limitsLoopback: true, now: () => nowMs };
    const { connect, node } = await listening(limits);
    const fast = await connect({ from: '127.0.0.2' });
    fast.socket.write(many(1000, www));
    await until(() => node.counters.tcpSlowed > 0, 'slowed');
    const modest = await connect();
    for (let id = 1; id <= 50; id++) await ask(modest, id);
    const atOnce = 100 + TURN_QUERIES; // a turn is not divided
    expect(fast.messages.length).toBeLessThanOrEqual(atOnce);
    for (let second = 1; second <= 10; second++) {
      nowMs += 1000;
      await fast.received(Math.min(1000, (second + 1) * 100));
      expect(fast.messages.length).toBeLessThanOrEqual(second * 100 + atOnce);
    }
    expect(idsOf(fast)).toEqual(range(1000));
  });

  test('gets no new rate by reconnecting', async () => {
    let nowMs = 0;
    const limits = { queriesPerSecond: 100, limitsLoopback: true, now: () => nowMs };
    const { connect, node, listener, answered } = await listening(limits);
    const first = await connect();
    first.socket.write(many(200, www));
    await until(() => node.counters.tcpSlowed > 0, 'slowed');
    first.socket.resetAndDestroy();
    await until(() => listener.connections() === 0, 'gone');
    const before = answered();
    const second = await connect();
    second.socket.write(framed(www()));
    await until(() => node.counters.tcpSlowed > 1, 'slowed again');
    expect(answered()).toBe(before);
    nowMs += 1000;
    await second.received(1);
  });

  test('has no query limit on loopback, where a proxy may represent many clients', async () => {
    const { connect } = await listening({ queriesPerSecond: 1, now: () => 0 });
    const client = await connect();
    client.socket.write(many(500, www));
    await client.received(500);
  });
});

describe('a message for the transfer thread', () => {
  const axfr = (id: number) => queryFor('example.test.', TYPE.AXFR, { id });
  const part = (...ids: number[]) => framed(...ids.map((id) => axfr(id)));
  const large = framed(Buffer.alloc(65_000));

  test('delays no other query, and the next part of its answer is requested when the last one was taken', async () => {
    const transfers = new FakeTransfers();
    const { connect } = await listening({ transfers });
    const client = await connect();
    client.socket.write(framed(axfr(1), www(2), axfr(3)));
    await client.received(1);
    const [first, second] = await transfers.received(2);
    const { octets, transport, address } = first!;
    expect([Buffer.from(octets), transport, [...address]]).toEqual([axfr(1), 1, [127, 0, 0, 1]]);
    transfers.answer(first!.id, part(1), false);
    await until(() => transfers.idsOf('more').length === 1, 'the next part is requested');
    transfers.answer(second!.id, part(3), false); // waits for the next part of the first
    client.socket.write(framed(www(4)));
    await client.received(4);
    transfers.answer(first!.id, part(1, 1));
    transfers.answer(second!.id, undefined);
    await client.received(6);
    expect(idsOf(client)).toEqual([2, 1, 3, 4, 1, 1]);
    expect(transfers.idsOf('more')).toEqual([first!.id, second!.id]);
    expect(transfers.slowPath.limit.waiting).toBe(0);
  });

  test('is one of at most 16 of a connection, which is read again when one is answered', async () => {
    const transfers = new FakeTransfers();
    const { connect } = await listening({ transfers });
    const [client, other] = [await connect(), await connect()];
    client.socket.write(framed(...range(40).map(axfr), www(99)));
    await transfers.received(16);
    await ask(other);
    for (let answered = 0; answered < 40; answered++) {
      expect(transfers.messages.length).toBe(Math.min(40, 16 + answered));
      transfers.answer(transfers.messages[answered]!.id, part(answered));
      await transfers.received(Math.min(40, 17 + answered));
    }
    await client.received(41);
    expect(idsOf(client).sort((a, b) => a - b)).toEqual([...range(40), 99]);
  });

  test('is one of at most 128 of a client; others get SERVFAIL', async () => {
    const transfers = new FakeTransfers();
    const { connect, listener } = await listening({ transfers });
    const own = await Promise.all(range(8).map(() => connect()));
    for (const client of own) client.socket.write(framed(...range(16).map(axfr)));
    await transfers.received(128);
    const [one, other] = [await connect(), await connect({ from: '127.0.0.2' })];
    one.socket.write(framed(axfr(1)));
    expect((await one.received(1)).map(summarize)).toEqual(['SERVFAIL - 0/0/0/0']);
    other.socket.write(framed(axfr(1)));
    await transfers.received(129);
    own[0]!.socket.resetAndDestroy();
    await until(() => listener.connections() === 9, 'closed');
    one.socket.write(framed(axfr(2)));
    await transfers.received(130);
  });

  test('holds few parts of its answer if the peer reads slowly, and is ended if it takes none for 30 seconds', async () => {
    let nowMs = 0;
    const transfers = new FakeTransfers();
    const { connect, listener, node } = await listening({ transfers, idleTimeoutMs: 100, now: () => nowMs });
    const [slow, idle] = [await connect({ reads: false }), await connect()];
    slow.socket.write(framed(axfr(1)));
    const { id } = (await transfers.received(1))[0]!;
    nowMs += 10_000; // the thread has time
    await until(() => idle.over, 'the idle connection is ended');
    transfers.onMore = () => transfers.answer(id, large, false);
    transfers.onMore(id);
    const idleToo = await connect();
    nowMs += 29_000;
    await until(() => idleToo.over, 'the idle connection is ended');
    expect(listener.connections()).toBe(1);
    await until(() => {
      nowMs += 100; // the system may still take a part
      return listener.connections() === 0;
    }, 'the slow connection is ended');
    expect(transfers.idsOf('more').length).toBeLessThan(200); // as many as the buffers of the system hold
    expect([transfers.idsOf('closed'), node.counters.tcpExpired]).toEqual([[id], 3]);
    expect(transfers.slowPath.limit.waiting).toBe(0);
  });

  test('counts the answers that the peer does not read, also those that arrive later', async () => {
    const transfers = new FakeTransfers();
    const { connect, node } = await listening({ transfers, maxUnreadBytesPerAddress: 500_000 });
    const client = await connect({ reads: false });
    client.socket.write(framed(...range(16).map(axfr)));
    const messages = await transfers.received(16);
    for (const { id } of messages) for (let i = 0; i < 5; i++) transfers.answer(id, large, i === 4);
    expect(node.counters.tcpUnread).toBe(1);
    expect(transfers.slowPath.limit.waiting).toBe(0);
  });

  test('is forgotten if its connection ends, and ends its connection if the thread ends or aborts', async () => {
    const transfers = new FakeTransfers();
    const { connect, listener } = await listening({ transfers });
    const [closed, aborted, lost, other] = await Promise.all(range(4).map(() => connect()));
    for (const [i, client] of [closed, aborted, lost].entries()) {
      client!.socket.write(framed(axfr(i)));
      await transfers.received(i + 1);
    }
    const ids = transfers.messages.map(({ id }) => id);
    closed!.socket.resetAndDestroy(); // after a FIN, its answer is still sent
    await until(() => transfers.idsOf('closed').length === 1, 'closed');
    expect(transfers.idsOf('closed')).toEqual([ids[0]]);
    transfers.slowPath.receive({ kind: 'abort', id: ids[1]! });
    transfers.slowPath.detach();
    await until(() => aborted!.over && lost!.over && listener.connections() === 1, 'ended');
    expect(transfers.slowPath.limit.waiting).toBe(0);
    await ask(other!);
  });

  test('gets SERVFAIL if no thread runs or too many messages wait', async () => {
    const transfers = new FakeTransfers();
    const { connect } = await listening({ transfers });
    const client = await connect();
    const { limit } = transfers.slowPath;
    for (let i = 0; i < 2048; i++) limit.enter();
    client.socket.write(framed(axfr(1)));
    await client.received(1);
    for (let i = 0; i < 2048; i++) limit.leave();
    transfers.slowPath.detach();
    client.socket.write(framed(axfr(2), www(3)));
    await client.received(3);
    expect(client.messages.map(summarize)).toEqual([
      'SERVFAIL - 0/0/0/0',
      'SERVFAIL - 0/0/0/0',
      'NOERROR aa 1/1/0/0',
    ]);
    expect([idsOf(client), limit.waiting, transfers.messages.length]).toEqual([[1, 2, 3], 0, 0]);
  });

  test('is answered before the connection ends, after its client or the listener has ended it', async () => {
    const transfers = new FakeTransfers();
    const { connect, listener } = await listening({ transfers });
    const [half, whole] = [await connect(), await connect()];
    half.socket.end(framed(axfr(1), www(2)));
    await half.received(1);
    whole.socket.write(framed(axfr(3)));
    const [first, second] = await transfers.received(2);
    transfers.answer(first!.id, part(1));
    await until(() => half.over, 'ended');
    const closed = listener.close();
    transfers.answer(second!.id, part(3));
    await closed;
    await until(() => whole.over, 'ended');
    expect([idsOf(half), idsOf(whole)]).toEqual([[2, 1], [3]]);
  });

  test('keeps its connection from being passed to another process, and is answered there', async () => {
    const transfers = new FakeTransfers();
    const { connect, listener } = await listening({ transfers });
    const client = await connect();
    client.socket.write(framed(axfr(1), www(2)));
    const [message] = await transfers.received(1);
    const passed: unknown[] = [];
    for await (const parcel of listener.passConnections()) passed.push(parcel);
    expect([passed, listener.connections()]).toEqual([[], 1]);
    transfers.answer(message!.id, part(1));
    await until(() => client.over, 'ended');
    expect(idsOf(client)).toEqual([2, 1]);
  });
});

test('closing ends every connection, including those that do not read', async () => {
  const { connect, listener } = await listening();
  const idle = await connect();
  const deaf = await connect({ reads: false });
  deaf.socket.write(many(200));
  await until(() => listener.connections() === 2, 'two connections');
  await listener.close();
  expect(listener.connections()).toBe(0);
  await until(() => idle.over, 'ended');
});

const system = createRequire(import.meta.url)('koffi').load(null);
/** Copies a descriptor, like passing it to another process. */
const dup: (descriptor: number) => number = system.func('int dup(int descriptor)');
const getsockopt = system.func('int getsockopt(int fd, int level, int option, void *value, void *bytes)');

/** Passes connections from one listener to another. Calls `between` after each parcel, and returns their sizes. */
async function pass(from: TcpListener, to: TcpListener, between = async () => {}): Promise<number[]> {
  const sizes: number[] = [];
  for await (const parcel of from.passConnections()) {
    const inputs = parcel.map(({ input }) => input.toString('base64'));
    expect(JSON.stringify({ inputs }).length).toBeLessThan(16_384); // the limit of one message
    sizes.push(parcel.length);
    for (const { descriptor, input } of parcel) to.adopt(dup(descriptor), Buffer.from(input));
    await between();
  }
  return sizes;
}

describe('a connection that another listener takes over', () => {
  test('is still answered, including a query that the first listener has read in part, and keeps the idle timeout', async () => {
    const [first, second] = [await listening(), await listening({ idleTimeoutMs: 300 })];
    const [half, idle] = [await first.connect(), await first.connect({ to: first.listener.addresses[1]! })];
    await ask(idle);
    const octets = framed(www(1), www(2));
    half.socket.write(octets.subarray(0, -20));
    await half.received(1);
    expect(await pass(first.listener, second.listener)).toEqual([2]);
    expect([first.listener.connections(), second.listener.connections()]).toEqual([0, 2]);
    half.socket.write(Buffer.concat([octets.subarray(-20), framed(www(3))]));
    await half.received(3);
    await ask(idle, 2);
    expect([idsOf(half), idsOf(idle)]).toEqual([
      [1, 2, 3],
      [1, 2],
    ]);
    await until(() => half.over && idle.over, 'both are ended');
  });

  test('gets each answer once and in order if whole queries wait for their turn', async () => {
    const slow = await listening({ queriesPerSecond: 10, limitsLoopback: true, now: () => 0 });
    const second = await listening();
    const client = await slow.connect();
    client.socket.write(many(100, www));
    await until(() => slow.node.counters.tcpSlowed > 0, 'slowed');
    const answered = slow.answered();
    expect(answered).toBeLessThan(100);
    await pass(slow.listener, second.listener);
    await client.received(100);
    expect(idsOf(client)).toEqual(range(100));
    expect([slow.answered(), second.answered()]).toEqual([answered, 100 - answered]);
  });

  test('gets each answer once and in order if it is passed back and forth while it sends queries', async () => {
    const both = [await listening(), await listening()] as const;
    const some = await Promise.all(range(8).map(() => both[0].connect()));
    await until(() => both[0].listener.connections() === some.length, 'accepted');
    const count = 300;
    for (const [i, client] of some.entries()) {
      const octets = many(count, www);
      const step = [7, 100, 1000, octets.length][i % 4]!;
      void (async () => {
        for (let at = 0; at < octets.length; at += step) {
          client.socket.write(octets.subarray(at, at + step));
          if (at % 5 === 0) await nextRound();
        }
      })();
    }
    let passes = 0;
    for (; some.some(({ messages }) => messages.length < count); passes++) {
      expect(some.every(({ over }) => !over)).toBe(true);
      const [from, to] = passes % 2 === 0 ? both : [both[1], both[0]];
      await pass(from.listener, to.listener, async () => void (await nextRound()));
      expect(to.listener.connections()).toBe(some.length);
    }
    for (const client of some) expect(idsOf(client)).toEqual(range(count));
    expect(both[0].answered() + both[1].answered()).toBe(some.length * count);
    expect(passes).toBeGreaterThan(5);
  });

  test('counts against the limits of that listener', async () => {
    const first = await listening();
    const second = await listening({ maxConnectionsPerAddress: 5 });
    const some = await Promise.all(range(8).map(() => first.connect()));
    await Promise.all(some.map((client) => ask(client)));
    await pass(first.listener, second.listener);
    expect(second.listener.connections()).toBe(5);
    expect(second.node.counters.tcpRefused).toBe(3);
    await until(() => some.filter(({ over }) => over).length === 3, 'three are ended');
    for (const client of some) if (!client.over) await ask(client, 2);
    expect(second.answered()).toBe(5);
  });

  test('is passed with others, some of which end in the meantime, in parcels that fit into a message', async () => {
    const first = await listening({ maxConnectionsPerAddress: 1000 });
    const second = await listening({ maxConnectionsPerAddress: 1000 });
    const some = await Promise.all(range(230).map(() => first.connect()));
    await Promise.all(some.map((client) => ask(client)));
    const ending = some.slice(210, 220);
    const endSome = async () => {
      for (const client of ending) client.socket.resetAndDestroy();
      await nextRound();
    };
    const sizes = await pass(first.listener, second.listener, endSome);
    expect([sizes[0], sizes.reduce((sum, size) => sum + size)]).toEqual([200, 220]);
    for (const client of some) if (!ending.includes(client)) await ask(client, 2);
    await until(() => second.listener.connections() === 220, 'the others are gone');
  });

  test('takes long incomplete queries with it, in several parcels', async () => {
    const [first, second] = [await listening(), await listening()];
    const long = framed(Buffer.concat([www(2), Buffer.alloc(4200)]));
    const some = await Promise.all(range(12).map(() => first.connect()));
    for (const client of some) client.socket.write(Buffer.concat([framed(www(1)), long.subarray(0, 4095)]));
    await Promise.all(some.map((client) => client.received(1)));
    await until(() => some.every(({ socket }) => socket.writableLength === 0), 'written');
    await pass(first.listener, second.listener);
    for (const client of some) client.socket.write(long.subarray(4095));
    await Promise.all(some.map((client) => client.received(2)));
    expect(second.answered()).toBe(12);
  });
});

describe('a connection that cannot be passed', () => {
  test('stays if its peer does not read, and is ended later', async () => {
    const [first, second] = [await listening({ idleTimeoutMs: 1000 }), await listening()];
    const [deaf, late] = [await first.connect({ reads: false }), await first.connect()];
    late.socket.pause();
    for (const client of [deaf, late]) client.socket.write(many(100));
    await until(() => first.answered() > 2, 'answered');
    const reading = pass(first.listener, second.listener);
    expect(await reading).toEqual([]);
    expect([first.listener.connections(), second.listener.connections()]).toEqual([2, 0]);
    late.socket.resume();
    await until(() => late.over, 'the answers are read, then the end');
    expect(idsOf(late)).toEqual(range(late.messages.length));
    expect(late.messages.length).toBe(100);
    late.close();
    await first.listener.finished();
    expect(first.listener.connections()).toBe(0);
    expect(first.node.counters.tcpExpired).toBe(1);
  });

  test('is passed later if its peer reads soon', async () => {
    const [first, second] = [await listening(), await listening()];
    const client = await first.connect();
    client.socket.pause();
    client.socket.write(many(100));
    await until(() => first.answered() > 0, 'answered');
    const passing = pass(first.listener, second.listener);
    client.socket.resume();
    expect(await passing).toEqual([1]);
    await client.received(100);
    expect(idsOf(client)).toEqual(range(100));
  });

  test('is answered and ended if its peer has ended its side', async () => {
    const slow = await listening({ queriesPerSecond: 50, limitsLoopback: true });
    const second = await listening();
    const client = await slow.connect();
    client.socket.end(many(110, www));
    await until(() => slow.node.counters.tcpSlowed > 0 && client.socket.writableFinished, 'slowed');
    for (let i = 0; i < 3; i++) await nextRound(); // reads the end
    expect(await pass(slow.listener, second.listener)).toEqual([]);
    await client.received(110);
    await until(() => client.over && slow.listener.connections() === 0, 'ended');
    expect(idsOf(client)).toEqual(range(110));
  });
});

describe('a listener that has inherited its sockets', () => {
  const copies = (listener: TcpListener) =>
    listener.descriptors.map((descriptor, i) => {
      return { listen: listener.addresses[i]!, udp: [], tcp: dup(descriptor) };
    });

  test('accepts connections together with the first and after it, with the same backlog', async () => {
    const first = await listening();
    const before = first.listener.descriptors.map(backlogOf);
    const second = await listening({ inherited: copies(first.listener) });
    expect(second.listener.addresses).toEqual(first.listener.addresses);
    expect(second.listener.descriptors.map(backlogOf)).toEqual(before);
    const some = await Promise.all(
      range(40).map((i) => first.connect({ to: first.listener.addresses[i % 2]! })),
    );
    first.listener.stopAccepting();
    await Promise.all(some.map((client) => ask(client)));
    const more = await Promise.all(range(40).map(() => first.connect()));
    await Promise.all(more.map((client) => ask(client)));
    expect(first.answered() + second.answered()).toBe(80);
    expect(second.answered()).toBeGreaterThanOrEqual(40);
    await first.listener.close();
    await ask(await first.connect());
  });
});

/** tcpi_sacked of a listening socket (tcp(7), TCP_INFO). */
function backlogOf(descriptor: number): number {
  const [IPPROTO_TCP, TCP_INFO] = [6, 11];
  const info = new Uint32Array(16);
  expect(getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, info, Uint32Array.of(info.byteLength))).toBe(0);
  return info[7] as number;
}
