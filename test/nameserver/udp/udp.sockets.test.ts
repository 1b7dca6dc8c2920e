import { createSocket } from 'node:dgram';
import { readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { networkInterfaces } from 'node:os';
import dnsPacket from 'dns-packet';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Name, printName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';
import { AskedMarks } from '../../../src/nameserver/image/find/asked-marks.ts';
import { openLibc } from '../../../src/nameserver/threads/libc.ts';
import type { ChosenUdpListener, UdpOptions } from '../../../src/nameserver/udp/udp.ts';
import { openUdpSockets, type UdpListener } from '../../../src/nameserver/udp/udp-sockets.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { COMMANDED_ANSWERER } from '../../support/answer/bundled-answerer.ts';
import { FakeLibc } from '../../support/answer/fake-libc.ts';
import { FakeTransfers } from '../../support/answer/fake-transfers.ts';
import { listenUdpFor } from '../../support/answer/listen-udp-for.ts';
import { queryFor, summarize } from '../../support/answer/packets.ts';
import { exchangeUdp } from '../../support/answer/sockets.ts';
import { testNode } from '../../support/answer/test-node.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { scale } from '../../support/tests/scale.ts';
import { until } from '../../support/tests/until.ts';

const LOOPBACKS: readonly ListenAddress[] = ['127.0.0.1', '::1'].map((address) => ({ address, port: 0 }));
const ASKERS = [
  [127, 0, 0, 1],
  [...Array(15).fill(0), 1],
];

let open: UdpListener[] = [];
const closeAll = () => Promise.all(open.splice(0).map((listener) => listener.close()));
afterEach(async () => {
  await closeAll();
  open = [];
});

async function listen({ io, ...more }: Partial<UdpOptions> = {}, node = testNode()) {
  const counters = new QueryCounters();
  const listener = await listenUdpFor(node, LOOPBACKS, io, counters, more);
  open.push(listener);
  return { listener, counters };
}

type Listening = Awaited<ReturnType<typeof listen>>;
const www = (id = 1) => queryFor('www.example.test.', TYPE.A, { id });
const ixfr = () => queryFor('example.test.', TYPE.IXFR);
const timed = ({ latency }: QueryCounters) => latency.reduce((sum, count) => sum + count, 0);
const command = (word: string) => Buffer.concat([Buffer.alloc(12), Buffer.from(word)]);

describe.each(['koffi', 'dgram'] as const)('a UDP listener with %s', (io) => {
  describe('that answers', () => {
    // One listener for all tests: starting threads takes most of the time.
    const asked = new AskedMarks();
    const zoneCounts = new ZoneCounts();
    let own: Listening;
    let first: ListenAddress;
    beforeAll(async () => {
      own = await listen({ io }, testNode({ unproven: true, asked, zoneCounts }));
      open = [];
      first = own.listener.addresses[0]!;
    });
    afterAll(() => own.listener.close());
    const exchange = (packet: Uint8Array, timeoutMs?: number) => exchangeUdp(first, packet, timeoutMs);

    test('answers on every address, IPv4 and IPv6', async () => {
      expect(own.listener.addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
      for (const address of own.listener.addresses) {
        const reply = await exchangeUdp(address, queryFor('www.example.test.', TYPE.A, { opt: '' }));
        expect(summarize(reply!)).toBe('NOERROR aa 1/1/0/0 OPT()');
      }
    });

    test('marks an unproven zone with queries, and counts answers by zone, on every address', async () => {
      for (const address of own.listener.addresses) {
        asked.take();
        await exchangeUdp(address, queryFor('example.test.', TYPE.SOA, { opt: '' }));
        expect(asked.take()).toEqual([]);
        const counted: string[] = [];
        const sink = {
          add: (_: number, ...row: number[]) => counted.push(row.join(' ')),
          addOther: () => undefined,
          addName: (_: number, name: Name) => counted.push(printName(name)),
        };
        await until(() => {
          zoneCounts.take(sink);
          return counted.includes(`${TYPE.SOA} 0 1`);
        }, 'the answer is counted');
        await exchangeUdp(address, queryFor('nx.example.test.', TYPE.AAAA));
        expect(asked.take().length).toBe(1);
        await until(() => {
          zoneCounts.take(sink);
          return counted.at(-1) === `${TYPE.AAAA} 3 1`;
        }, 'the second answer is counted');
      }
    });

    test('is compatible with dns-packet', async () => {
      const questions = [{ type: 'MX' as const, name: 'Example.test' }];
      const query = dnsPacket.encode({ type: 'query', id: 9, questions });
      const reply = dnsPacket.decode((await exchange(query))!);
      expect(reply).toMatchObject({ id: 9, flag_aa: true, questions: [{ name: 'Example.test' }] });
      const data = { preference: 10, exchange: 'mail.example.test' };
      expect(reply.answers).toMatchObject([{ type: 'MX', data }]);
    });

    test('does not answer responses and fragments, and answers the next query', async () => {
      const before = own.counters.ignored;
      const response = www();
      response[2] = 0x80;
      const ignored = [Buffer.alloc(0), Buffer.alloc(11), response];
      const replies = await Promise.all(ignored.map((packet) => exchange(packet, 50)));
      expect(replies).toEqual([undefined, undefined, undefined]);
      await until(() => own.counters.ignored === before + 3, 'three ignored packets');
      expect(await exchange(www())).toBeDefined();
    });

    test('reads a query of the maximum length of UDP', async () => {
      const large = Buffer.alloc(65_507);
      large.set(queryFor('www.example.test.', TYPE.A, { opt: '' }));
      expect(summarize((await exchange(large))!)).toBe('NOERROR aa 1/1/0/0 OPT()'); // ignores octets after the message
    });

    test('answers a burst, each query to its sender, with counts and latencies', async () => {
      const count = () => [...own.counters.answerCounts()].reduce((sum, one) => sum + one.count, 0);
      await until(() => timed(own.counters) === count(), 'earlier answers timed');
      const before = count();
      const addresses = () =>
        [...own.counters.answerCounts()].find(({ type, rcode }) => type === 'A' && rcode === 0);
      const addressesBefore = addresses()?.count ?? 0;
      const secondsBefore = own.counters.latencySumSeconds;
      const ids = Array.from({ length: 100 }, (_, i) => i);
      const replies = await Promise.all(ids.map((id) => exchange(www(id))));
      expect(replies.map((reply) => reply?.readUInt16BE(0))).toEqual(ids);
      expect(count()).toBe(before + 100);
      expect(addresses()).toMatchObject({ transport: 'udp', count: addressesBefore + 100 });
      await until(() => timed(own.counters) === before + 100, '100 answers timed');
      expect(own.counters.latencySumSeconds).toBeGreaterThan(secondsBefore);
    });
  });

  describe('with three threads', () => {
    const threads = Array.from({ length: 3 }, () => new QueryCounters());
    let listener: UdpListener;
    beforeAll(async () => {
      const more = { threads: 3, answerer: COMMANDED_ANSWERER };
      listener = await listenUdpFor(testNode(), LOOPBACKS, io, threads, more);
    });
    afterAll(() => listener.close());

    test('answers more concurrent queries than one batch holds, in every thread', async () => {
      const [{ port }] = listener.addresses as [ListenAddress];
      const sockets = Array.from({ length: 40 }, () => createSocket('udp4'));
      const seen = new Set<string>();
      for (const [i, socket] of sockets.entries()) {
        socket.on('message', (answer) => seen.add(`${i} ${answer.readUInt16BE(0)}`));
        for (let id = 0; id < 25; id++) {
          const packet = Buffer.alloc(12);
          packet.writeUInt16BE(id);
          socket.send(packet, port, '127.0.0.1');
        }
      }
      await until(() => seen.size === 1000, '1000 answers').finally(() => {
        for (const socket of sockets) socket.close();
      });
      await until(
        () => threads.map(timed).reduce((sum, count) => sum + count) === 1000,
        '1000 answers timed',
      );
      if (io === 'koffi') expect(Math.min(...threads.map(timed))).toBeGreaterThan(0);
    });

    test('passes on the address of the sender, and loses only a packet whose answer throws', async () => {
      const unsent = () => threads.reduce((sum, thread) => sum + thread.unsent, 0);
      for (const [i, address] of listener.addresses.entries()) {
        const before = unsent();
        expect(await exchangeUdp(address, command('throw'), 50)).toBeUndefined();
        const reply = await exchangeUdp(address, Buffer.alloc(12));
        expect([...reply!.subarray(12)]).toEqual(ASKERS[i]);
        expect(unsent()).toBe(before + 1);
      }
    });
  });

  test('answers packets of the slow path later, to their sender, unless it was closed', async () => {
    const transfers = new FakeTransfers();
    const { slowPath } = transfers;
    const { listener } = await listen({ io, slowPath }, testNode({ hasTransfers: true }));
    for (const [i, { address, port }] of listener.addresses.entries()) {
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
      const answer = new Promise<Buffer>((done) => socket.once('message', done));
      socket.send(ixfr(), port, address);
      const message = (await transfers.received(i + 1)).at(-1)!;
      expect([Buffer.from(message.octets), message.transport]).toEqual([ixfr(), 0]);
      expect([...message.address]).toEqual(ASKERS[i]);
      expect(await exchangeUdp({ address, port }, www())).toBeDefined();
      transfers.answer(message.id, Buffer.from('slow'));
      expect((await answer.finally(() => socket.close())).toString()).toBe('slow');
    }
    const [{ address, port }] = listener.addresses as [ListenAddress];
    await exchangeUdp({ address, port }, ixfr(), 1);
    await transfers.received(3);
    await closeAll();
    transfers.answer(transfers.messages[2]!.id, Buffer.from('slow'));
    expect(slowPath.limit.waiting).toBe(0);
  });

  test('reports an address in use, even by a listener of its own kind, and keeps none of the others', async () => {
    const taken = createSocket('udp4');
    await new Promise<void>((done) => taken.bind(0, '127.0.0.1', done));
    const { port } = taken.address();
    const { listener, counters } = await listen({ io, threads: 2 });
    const again = listen({ io, threads: 2, addresses: listener.addresses });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'bind' });
    const other = { address: '::1', port: listener.addresses[1]!.port };
    await closeAll();
    const silent = exchangeUdp(listener.addresses[0]!, www(), 50).catch(() => undefined);
    expect([await silent, counters.ignored]).toEqual([undefined, 0]);
    const failing = listen({ io, addresses: [other, { address: '127.0.0.1', port }] });
    await expect(failing).rejects.toThrow(`bind EADDRINUSE 127.0.0.1:${port}`);
    await expect(failing).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'bind', port });
    const again6 = createSocket('udp6');
    await new Promise<void>((done) => again6.bind(other.port, other.address, done));
    again6.close();
    await new Promise<void>((done) => taken.close(() => done()));
  });
});

test.each([
  { wildcard: '0.0.0.0', asked: ['127.0.0.1', '127.0.0.2', '127.7.7.7'] },
  { wildcard: '::', asked: ['::1', ...linkLocalAddresses()] },
])('koffi is used if it works, and answers on $wildcard are sent from the address that was queried', async ({
  wildcard,
  asked,
}) => {
  const log = collectingLog();
  const transfers = new FakeTransfers();
  const { slowPath } = transfers;
  const { listener } = await listen(
    { log, addresses: [{ address: wildcard, port: 0 }], slowPath },
    testNode({ hasTransfers: true }),
  );
  expect(listener.io).toBe('koffi');
  expect(log.lines).toMatchObject([{ level: 'info', fields: { io: 'koffi', threads: 1 } }]);
  const [{ port }] = listener.addresses as [ListenAddress];
  for (const address of asked) {
    // A connected socket receives nothing from other addresses.
    const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
    const answer = () => new Promise<Buffer>((done) => socket.once('message', done));
    await new Promise<void>((done) => socket.connect(port, address, done));
    socket.send(www());
    expect(summarize(await answer())).toBe('NOERROR aa 1/1/0/0');
    socket.send(ixfr());
    const slow = (await transfers.received(transfers.messages.length + 1)).at(-1)!;
    transfers.answer(slow.id, Buffer.from('slow'));
    expect((await answer().finally(() => socket.close())).toString()).toBe('slow');
  }
});

test('node:dgram is used elsewhere, and the reason is logged, unless koffi is required', async () => {
  const log = collectingLog();
  const real = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...real, value: 'freebsd' });
  try {
    const { listener } = await listen({ log });
    expect(listener.io).toBe('dgram');
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { io: 'dgram', reason: 'the operating system is freebsd, not linux' } },
    ]);
    expect(await exchangeUdp(listener.addresses[0]!, www())).toBeDefined();
    await expect(listen({ io: 'koffi' })).rejects.toThrow('freebsd');
  } finally {
    Object.defineProperty(process, 'platform', real);
  }
});

describe('a listener that has inherited its sockets', () => {
  const dup: (descriptor: number) => number = createRequire(import.meta.url)('koffi')
    .load(null)
    .func('int dup(int descriptor)');

  /** Returns copies of the sockets, as another process gets them. */
  function copies(listener: ChosenUdpListener) {
    if (listener.io !== 'koffi') throw new Error('koffi is needed');
    const { sockets } = listener;
    const udp = sockets.share();
    return sockets.addresses.map((listen, i) => ({ listen, udp: udp[i]!.map(dup), tcp: -1 }));
  }

  /** Answers a query of 12 octets with its id. */
  const echoing = (threads: number, more: Partial<UdpOptions> = {}) =>
    listen({ io: 'koffi', threads, answerer: COMMANDED_ANSWERER, ...more });

  /** Sends queries from several sockets until it is stopped, and counts the answers to each query. */
  function startAsking(to: readonly ListenAddress[]) {
    const CLIENTS = 16;
    const answers = new Map<string, number>();
    let asked = 0;
    const clients = Array.from({ length: CLIENTS }, (_, i) => {
      const { address, port } = to[i % to.length]!;
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
      socket.on('message', (answer) => {
        const key = `${i} ${answer.readUInt16BE(0)}`;
        answers.set(key, (answers.get(key) ?? 0) + 1);
      });
      return { socket, address, port, next: 0 };
    });
    // Never more than a receive buffer can hold.
    const timer = setInterval(() => {
      for (const client of clients) {
        for (let i = 0; i < 4 && client.next < 0x10000 && asked - answers.size < 500; i++) {
          const packet = Buffer.alloc(12);
          packet.writeUInt16BE(client.next++);
          client.socket.send(packet, client.port, client.address);
          asked++;
        }
      }
    }, 1);
    return {
      asked: () => asked,
      async finish() {
        clearInterval(timer);
        const all = () => `${answers.size} of ${asked} answered`;
        await until(() => answers.size === asked, all, 10_000).finally(() => {
          for (const { socket } of clients) socket.close();
        });
        expect([...answers.values()].every((count) => count === 1)).toBe(true);
      },
    };
  }

  const releases = [
    { threads: 2, heirs: 2, addresses: LOOPBACKS.slice(0, 1) }, // each thread has one socket, before and after
    { threads: 3, heirs: 1, addresses: LOOPBACKS },
    { threads: 2, heirs: 5, addresses: LOOPBACKS },
    { threads: 2, heirs: 2, addresses: LOOPBACKS },
  ];
  test.each(
    releases.slice(0, scale(4, 2)),
  )('answers each query exactly once while the first of $threads threads releases them to $heirs (%#)', async ({
    threads,
    heirs,
    addresses,
  }) => {
    const { listener: first } = await echoing(threads, { addresses });
    const asking = startAsking(first.addresses);
    const more = async (queries: number) => {
      const from = asking.asked();
      await until(() => asking.asked() >= from + queries, 'more queries');
    };
    await more(1500);
    const { listener: second, counters } = await echoing(heirs, { addresses, inherited: copies(first) });
    expect(second.addresses).toEqual(first.addresses);
    await more(1500);
    if (first.io === 'koffi') await first.threads.release();
    const before = timed(counters);
    await more(1500);
    await asking.finish();
    await until(() => timed(counters) > before + 1000, 'the second one answers');
  });

  test('opens the addresses that it has not inherited', async () => {
    const { listener: first } = await echoing(2);
    const [ipv4] = first.addresses as [ListenAddress];
    const addresses = [{ address: '127.0.0.7', port: 0 }, ipv4];
    const { listener: second } = await echoing(2, { addresses, inherited: copies(first) });
    expect(second.addresses).toEqual([{ address: '127.0.0.7', port: expect.any(Number) }, ipv4]);
    expect(second.addresses[0]!.port).toBeGreaterThan(0);
    await first.close();
    for (const address of second.addresses)
      expect(await exchangeUdp(address, Buffer.alloc(12))).toBeDefined();
  });

  test('leaves the sockets of the first unchanged if it ends earlier or cannot start', async () => {
    const { listener: first } = await echoing(2);
    const taken = createSocket('udp4');
    await new Promise<void>((done) => taken.bind(0, '127.0.0.1', done));
    const inUse = { address: '127.0.0.1', port: taken.address().port };
    const addresses = [...first.addresses, inUse];
    const failing = echoing(2, { addresses, inherited: copies(first) });
    await expect(failing).rejects.toMatchObject({ code: 'EADDRINUSE' });
    taken.close();
    const { listener: second } = await echoing(3, { inherited: copies(first) });
    await second.close();
    if (first.io !== 'koffi') return;
    const POLLIN = 1;
    const descriptors = first.sockets.share().flat();
    const waiting = new Int32Array(descriptors.flatMap((descriptor) => [descriptor, POLLIN]));
    // A socket that was shut down would always be readable.
    expect(libc.poll(libc.addressOf(new Uint8Array(waiting.buffer)), descriptors.length, 0)).toBe(0);
    const asking = startAsking(first.addresses);
    await until(() => asking.asked() > 500, 'queries');
    await asking.finish();
  });
});

function linkLocalAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? [])
      .filter(({ address }) => address.startsWith('fe80:'))
      .map(({ address }) => `${address}%${name}`),
  );
}

const LOOPBACK = { address: '127.0.0.1', port: 0 };
const LOOPBACK6 = { address: '::1', port: 0 };
const libc = await openLibc();

/** Binds any address, even if the machine does not have it. */
class BindingLibc extends FakeLibc {
  bound: number[] = [];
  override socket = () => 3;
  override setsockopt = () => 0;
  override bind = (_socket: number, address: Uint8Array, bytes: number) => {
    this.bound = [...address.subarray(0, bytes)];
    return 0;
  };
  override getsockname = (_socket: number, address: Uint8Array) => {
    address.set(this.bound);
    return 0;
  };
  override close = () => 0;
}

/** Returns the octets that are bound for the address, and the address read from them. */
function bind(address: ListenAddress) {
  const system = new BindingLibc();
  const sockets = openUdpSockets(system, [address], 1);
  sockets.close();
  return { octets: system.bound, address: sockets.addresses[0] };
}

function descriptors(): number {
  return readdirSync('/proc/self/fd').length;
}

describe('the sockets', () => {
  test('are one per address and thread, and the sockets of an address share its port', () => {
    const before = descriptors();
    const sockets = openUdpSockets(libc, [LOOPBACK, LOOPBACK6], 3);
    expect(sockets.addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
    expect(sockets.addresses.every(({ port }) => port > 0)).toBe(true);
    expect(sockets.ofThread.map((own) => own.map(({ ipv6 }) => ipv6))).toEqual(Array(3).fill([false, true]));
    expect(descriptors()).toBe(before + 6);
    sockets.close();
    expect(descriptors()).toBe(before);
  });

  test('recognize wildcard addresses', () => {
    const addresses = ['0.0.0.0', '127.0.0.1', '::', '::0', '::1'].map((address) => ({ address, port: 0 }));
    const sockets = openUdpSockets(libc, addresses, 1);
    expect(sockets.ofThread[0]?.map(({ wildcard }) => wildcard)).toEqual([true, false, true, true, false]);
    sockets.close();
  });

  test('do not receive IPv4 if they are for IPv6', () => {
    const sockets = openUdpSockets(libc, [{ address: '::', port: 0 }], 1);
    const { port } = sockets.addresses[0]!;
    const same = openUdpSockets(libc, [{ address: '0.0.0.0', port }], 1);
    expect(same.addresses).toEqual([{ address: '0.0.0.0', port }]);
    same.close();
    sockets.close();
  });

  test('fail to open if another process uses the address, and none stays open', async () => {
    const taken = createSocket('udp4');
    await new Promise<void>((done) => taken.bind(0, '127.0.0.1', done));
    const address = { address: '127.0.0.1', port: taken.address().port };
    const before = descriptors();
    const fault = { code: 'EADDRINUSE', syscall: 'bind', ...address };
    expect(() => openUdpSockets(libc, [LOOPBACK6, address], 2)).toThrow(expect.objectContaining(fault));
    expect(descriptors()).toBe(before);
    taken.close();
  });

  test('fail to open on an address that the machine does not have', () => {
    const elsewhere = { address: '192.0.2.1', port: 5300 };
    const fault = { code: 'EADDRNOTAVAIL', syscall: 'bind', ...elsewhere };
    expect(() => openUdpSockets(libc, [elsewhere], 1)).toThrow(expect.objectContaining(fault));
  });
});

describe('a socket address', () => {
  test.each([
    { address: '192.0.2.7', port: 53, octets: [2, 0, 0, 53, 192, 0, 2, 7, 0, 0, 0, 0, 0, 0, 0, 0] },
    {
      address: '2001:db8::7',
      port: 5300,
      octets: [10, 0, 0x14, 0xb4, 0, 0, 0, 0, 0x20, 1, 0xd, 0xb8, ...Array(11).fill(0), 7, 0, 0, 0, 0],
    },
    {
      address: 'fe80::7%3',
      port: 53,
      octets: [10, 0, 0, 53, 0, 0, 0, 0, 0xfe, 0x80, ...Array(13).fill(0), 7, 3, 0, 0, 0],
    },
  ])('$address, port $port', ({ address, port, octets }) => {
    expect(bind({ address, port })).toEqual({ octets, address: { address, port } });
  });

  test('contains the number of the named interface', () => {
    for (const [name, addresses] of Object.entries(networkInterfaces())) {
      const { address, scopeid } =
        addresses?.find(({ family, address }) => family === 'IPv6' && address.startsWith('fe80:')) ??
        ({} as never);
      if (address === undefined) continue;
      expect(bind({ address: `${address}%${name}`, port: 53 }).address).toEqual({
        address: `${address}%${scopeid}`,
        port: 53,
      });
    }
    const unknown = { address: 'fe80::1%no-such', port: 53 };
    expect(bind(unknown).address).toEqual({ address: 'fe80::1', port: 53 });
  });
});
