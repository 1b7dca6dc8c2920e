import dns2 from 'dns2';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { decodeMessage } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import {
  DEFAULT_TCP_LIMITS,
  listenTcp,
  type TcpLimits,
  type TcpListener,
} from '../../../src/nameserver/tcp/tcp.ts';
import { AskedMarks } from '../../../src/zone/image/find/asked-marks.ts';
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

let open: TcpListener[] = [];
let clients: TcpClient[] = [];
afterEach(async () => {
  for (const client of clients) client.close();
  await Promise.all(open.map((listener) => listener.close()));
  clients = [];
  open = [];
  vi.useRealTimers();
});

async function listening(
  limits: Partial<TcpLimits> = {},
  options: TestNodeOptions = { zoneText: WITH_LARGE },
  now?: () => number,
) {
  const node = testNode(options);
  const listener = await listenTcp(
    [{ address: '127.0.0.1', port: 0 }],
    node,
    {
      ...DEFAULT_TCP_LIMITS,
      ...limits,
    },
    now,
  );
  open.push(listener);
  const at = listener.addresses[0]!;
  const connect = async (how: { reads?: boolean; from?: string } = {}) => {
    const client = await TcpClient.open(at, how);
    clients.push(client);
    return client;
  };
  const answered = () => [...node.counters.answerCounts()].reduce((sum, { count }) => sum + count, 0);
  return { listener, node, at, connect, answered };
}

describe('a TCP listener', () => {
  test('answers on IPv4 and IPv6, one query after the other', async () => {
    const node = testNode();
    const addresses = [
      { address: '127.0.0.1', port: 0 },
      { address: '::1', port: 0 },
    ];
    const listener = await listenTcp(addresses, node);
    open.push(listener);
    for (const address of listener.addresses) {
      const client = await TcpClient.open(address);
      clients.push(client);
      for (let id = 1; id <= 3; id++) {
        client.socket.write(framed(www(id)));
        const messages = await client.received(id);
        expect(messages[id - 1]!.readUInt16BE(0)).toBe(id);
        expect(summarize(messages[id - 1]!)).toBe('NOERROR aa 1/1/0/0');
      }
    }
    expect(listener.connections()).toBe(2);
  });

  test('notes an unproven zone that is asked for, over IPv4 and IPv6', async () => {
    const asked = new AskedMarks();
    const addresses = ['127.0.0.1', '::1'].map((address) => ({ address, port: 0 }));
    const listener = await listenTcp(addresses, testNode({ unproven: true, asked }));
    open.push(listener);
    for (const address of listener.addresses) {
      const client = await TcpClient.open(address);
      clients.push(client);
      client.socket.write(framed(queryFor('example.test.', TYPE.NS)));
      await client.received(1);
      expect(asked.take()).toEqual([]);
      client.socket.write(framed(www()));
      await client.received(2);
      expect(asked.take().length).toBe(1);
    }
  });

  test('is understood by dns2', async () => {
    const { at } = await listening();
    const resolve = dns2.TCPClient({ dns: at.address, port: at.port });
    const reply = await resolve('www.example.test', 'A');
    expect(reply.answers).toMatchObject([{ name: 'www.example.test', address: '192.0.2.3' }]);
  });

  test('gives an answer of nearly 65,535 octets whole', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.write(framed(large()));
    const [reply] = await client.received(1);
    expect(reply!.length).toBeGreaterThan(60_000);
    expect(decodeMessage(reply!).answers).toHaveLength(240);
  });

  test('answers pipelined queries, all of them (RFC 7766 §6.2.1.1)', async () => {
    const { connect } = await listening();
    const client = await connect();
    const ids = Array.from({ length: 5000 }, (_, i) => i + 1);
    client.socket.write(framed(...ids.map(www)));
    const messages = await client.received(ids.length);
    expect(messages.map((message) => message.readUInt16BE(0)).sort((a, b) => a - b)).toEqual(ids);
  });

  test('answers what came before a message that is no DNS, then ends the connection', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.write(Buffer.concat([framed(www(1), www(2)), Buffer.of(0, 2, 0x61, 0x62)]));
    await until(() => client.over, 'ended');
    expect(client.messages.map((message) => message.readUInt16BE(0))).toEqual([1, 2]);
  });

  test('takes a query octet by octet', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.setNoDelay(true);
    for (const octet of framed(www(1), www(2))) {
      client.socket.write(Buffer.of(octet));
      await new Promise((done) => setImmediate(done));
    }
    expect(await client.received(2)).toHaveLength(2);
  });

  test('takes a long query in thousands of parts', async () => {
    const { connect } = await listening();
    const client = await connect();
    client.socket.setNoDelay(true);
    for (const octet of framed(Buffer.concat([www(7), Buffer.alloc(3000)]))) {
      client.socket.write(Buffer.of(octet));
      await new Promise((done) => setImmediate(done));
    }
    expect((await client.received(1))[0]!.readUInt16BE(0)).toBe(7);
  });

  test('answers what was asked before the client ended its side, then ends its own', async () => {
    const { connect, listener } = await listening();
    const client = await connect();
    client.socket.end(framed(www(1), large(2), www(3)));
    await client.received(3);
    await until(() => client.over, 'closed');
    await until(() => listener.connections() === 0, 'released');
  });

  test('drops half a query when the client ends its side', async () => {
    const { connect, listener } = await listening();
    const client = await connect();
    client.socket.end(framed(www()).subarray(0, 10));
    await until(() => client.over && listener.connections() === 0, 'released');
    expect(client.messages).toHaveLength(0);
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

  test('leaves a response unanswered and stays', async () => {
    const { connect } = await listening();
    const client = await connect();
    const response = www(1);
    response[2] = 0x80;
    client.socket.write(framed(response, www(2)));
    const [reply] = await client.received(1);
    expect(reply!.readUInt16BE(0)).toBe(2);
  });
});

describe('against abuse', () => {
  test('a client that sends nothing is closed', async () => {
    const { connect, listener, node } = await listening({ idleTimeoutMs: 100 });
    const client = await connect();
    await until(() => client.over, 'closed');
    expect(listener.connections()).toBe(0);
    expect(node.counters.tcpExpired).toBe(1);
  });

  test('a client that drips octets is closed: only whole queries are progress', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setInterval', 'clearInterval'] });
    const { connect, listener } = await listening({ idleTimeoutMs: 10_000 });
    const [dripping, asking] = [await connect(), await connect()];
    const octets = framed(Buffer.concat([www(), Buffer.alloc(60_000)]));
    for (let second = 1; second <= 30; second++) {
      dripping.socket.write(octets.subarray(second - 1, second));
      asking.socket.write(framed(www(second)));
      await asking.received(second); // by then the octet has been read too
      vi.advanceTimersByTime(1000);
      expect(listener.connections(), `after ${second} s`).toBe(second < 10 ? 2 : 1);
    }
    await until(() => dripping.over, 'closed');
    expect(asking.over).toBe(false); // beyond the idle timeout
  });

  test('a client that never reads is not answered on, and is closed', async () => {
    const { connect, listener, node } = await listening({ idleTimeoutMs: 300 });
    const client = await connect({ reads: false });
    const before = process.memoryUsage().rss;
    // 20,000 answers of 60 KB: 1.2 GB, if they were made.
    const queries = framed(...Array.from({ length: 1000 }, (_, i) => large(i)));
    for (let i = 0; i < 20; i++) client.socket.write(queries);
    await until(() => listener.connections() === 0, 'closed');
    const answers = [...node.counters.answerCounts()].reduce((sum, { count }) => sum + count, 0);
    expect(answers).toBeGreaterThan(0);
    expect(answers).toBeLessThan(2000);
    expect(process.memoryUsage().rss - before).toBeLessThan(200 << 20);
    expect(node.counters.tcpExpired).toBe(1);
  });

  test('a slow client that reads in time gets everything', async () => {
    const { connect } = await listening({ idleTimeoutMs: 2000 });
    const client = await connect();
    const count = 300;
    client.socket.write(framed(...Array.from({ length: count }, (_, i) => large(i))));
    const slow = setInterval(() => {
      client.socket.pause();
      setTimeout(() => client.socket.resume(), 10);
    }, 20);
    const messages = await client.received(count);
    clearInterval(slow);
    expect(messages.map((message) => message.readUInt16BE(0))).toEqual(
      Array.from({ length: count }, (_, i) => i),
    );
  });

  test('one address gets no more connections than its limit, and others theirs', async () => {
    const { connect, listener, node } = await listening({ maxConnectionsPerAddress: 5 });
    const first = await Promise.all(Array.from({ length: 5 }, () => connect()));
    await until(() => listener.connections() === 5, 'five connections');
    const refused = await Promise.all(Array.from({ length: 20 }, () => connect()));
    await until(() => refused.every((client) => client.over), 'refused');
    expect(node.counters.tcpRefused).toBe(20);
    for (const client of first) client.socket.write(framed(www()));
    await Promise.all(first.map((client) => client.received(1)));
    first[0]!.close();
    await until(() => listener.connections() === 4, 'one less');
    const again = await connect();
    again.socket.write(framed(www()));
    await again.received(1);
  });

  test('a flood over the total limit closes the idlest, and newcomers are answered', async () => {
    const { connect, listener } = await listening({ maxConnections: 10 });
    const active = await connect();
    for (let i = 0; i < 50; i++) {
      await connect();
      active.socket.write(framed(www(i)));
      await active.received(i + 1);
      expect(listener.connections()).toBeLessThanOrEqual(10);
    }
    const late = await connect();
    late.socket.write(framed(www()));
    await late.received(1);
    expect(active.over).toBe(false);
  });

  test('connections cut mid-message and mid-answer leave nothing behind', async () => {
    const { connect, listener } = await listening({ maxConnectionsPerAddress: 1000 });
    for (let round = 0; round < 5; round++) {
      const some = await Promise.all(Array.from({ length: 40 }, (_, i) => connect({ reads: i % 2 === 0 })));
      for (const [i, client] of some.entries()) {
        client.socket.write(framed(large(1), large(2), large(3)).subarray(0, i % 4 === 0 ? 20 : 200));
        if (i % 3 === 0) client.socket.resetAndDestroy();
        else client.socket.destroy();
      }
    }
    await until(() => listener.connections() === 0, 'all released');
    const client = await connect();
    client.socket.write(framed(www()));
    await client.received(1);
  });

  test('many short connections grow no memory', async () => {
    const { connect, listener } = await listening();
    const batch = async (count: number) => {
      for (let i = 0; i < count; i++) {
        const client = await connect();
        client.socket.write(framed(www()));
        await client.received(1);
        client.close();
        clients.pop();
      }
      await until(() => listener.connections() === 0, 'all released');
    };
    await batch(100);
    const before = heapOctets();
    await batch(300);
    expect(heapOctets() - before).toBeLessThan(2 << 20);
  });
});

describe('a client that asks much', () => {
  const many = (count: number) => framed(...Array.from({ length: count }, (_, i) => large(i)));

  test('keeps nobody waiting with many connections of large answers', async () => {
    const { connect, answered } = await listening();
    const greedy = await Promise.all(Array.from({ length: 20 }, () => connect({ from: '127.0.0.2' })));
    const modest = await connect();
    modest.socket.write(framed(www()));
    await modest.received(1);
    for (const client of greedy) client.socket.write(many(50));
    modest.socket.write(framed(www())); // behind all of them
    await new Promise((done) => modest.socket.once('data', done));
    expect(answered()).toBeLessThan(100); // of 1000
    await Promise.all(greedy.map((client) => client.received(50, 60_000)));
  });

  test('and does not read is answered no further than its buffers', async () => {
    const { connect, listener, answered } = await listening({ idleTimeoutMs: 500 });
    const client = await connect({ reads: false });
    client.socket.write(many(1000));
    await until(() => listener.connections() === 0, 'closed');
    expect(answered()).toBeLessThan(20); // of 60 KB each
  });

  test('and does not read loses the connection that has waited longest, and others keep theirs', async () => {
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
    for (const client of asked) client.socket.write(many(1)); // who does not read learns of the end by writing
    await until(() => asked.filter((client) => client.over).length === 2, 'two are closed');
    // Whoever came last has waited least; the order of the others is that of the kernel's last reads.
    expect(asked.length).toBeGreaterThan(2);
    expect(asked.at(-1)?.over).toBe(false);
    expect(other.over).toBe(false);
    expect(idle.over).toBe(false);
  });

  test('from many addresses without reading leaves room for those who read', async () => {
    const { connect, node } = await listening({ maxUnreadBytes: 2 << 20 });
    const modest = await connect();
    for (let i = 0; i < 40; i++) {
      const client = await connect({ reads: false, from: `127.0.1.${i + 1}` });
      client.socket.write(many(100));
    }
    await until(() => node.counters.tcpUnread > 20, 'most are closed');
    modest.socket.write(framed(www(), large()));
    await modest.received(2);
  });

  test('is answered at its rate and loses nothing, while others are answered', async () => {
    let nowMs = 0;
    const limits = { queriesPerSecond: 100, limitsLoopback: true };
    const { connect, node } = await listening(limits, undefined, () => nowMs);
    const fast = await connect({ from: '127.0.0.2' });
    fast.socket.write(framed(...Array.from({ length: 1000 }, (_, i) => www(i))));
    await until(() => node.counters.tcpSlowed > 0, 'slowed');
    const modest = await connect();
    for (let id = 1; id <= 50; id++) {
      modest.socket.write(framed(www(id)));
      await modest.received(id);
    }
    const atOnce = 100 + TURN_QUERIES; // a turn is not cut
    expect(fast.messages.length).toBeLessThanOrEqual(atOnce);
    for (let second = 1; second <= 10; second++) {
      nowMs += 1000;
      await fast.received(Math.min(1000, (second + 1) * 100));
      expect(fast.messages.length).toBeLessThanOrEqual(second * 100 + atOnce);
    }
    expect(fast.messages.map((message) => message.readUInt16BE(0))).toEqual(
      Array.from({ length: 1000 }, (_, i) => i),
    );
  });

  test('gets no new rate by connecting anew', async () => {
    let nowMs = 0;
    const limits = { queriesPerSecond: 100, limitsLoopback: true };
    const { connect, node, listener, answered } = await listening(limits, undefined, () => nowMs);
    const first = await connect();
    first.socket.write(framed(...Array.from({ length: 200 }, (_, i) => www(i))));
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

  test('has no limit of queries on loopback, where a proxy asks for many', async () => {
    const { connect } = await listening({ queriesPerSecond: 1 }, undefined, () => 0);
    const client = await connect();
    client.socket.write(framed(...Array.from({ length: 500 }, (_, i) => www(i))));
    await client.received(500);
  });
});

test('closing ends every connection, also those that do not read', async () => {
  const { connect, listener } = await listening();
  const idle = await connect();
  const deaf = await connect({ reads: false });
  deaf.socket.write(framed(...Array.from({ length: 200 }, (_, i) => large(i))));
  await until(() => listener.connections() === 2, 'two connections');
  await listener.close();
  expect(listener.connections()).toBe(0);
  await until(() => idle.over, 'ended');
});
