import { createSocket } from 'node:dgram';
import { networkInterfaces } from 'node:os';
import dnsPacket from 'dns-packet';
import { afterEach, describe, expect, test, vi } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { QueryCounters } from '../../../src/nameserver/answer/query-counters.ts';
import { ZoneCounts } from '../../../src/nameserver/counts/zone-counts.ts';
import { listenUdp, type UdpOptions } from '../../../src/nameserver/udp/udp.ts';
import type { UdpListener } from '../../../src/nameserver/udp/udp-sockets.ts';
import type { ListenAddress } from '../../../src/process/listen-address.ts';
import { AskedMarks } from '../../../src/zone/image/find/asked-marks.ts';
import { COMMANDED_ANSWERER } from '../../support/answer/commanded-answerer.ts';
import { queryFor, summarize } from '../../support/answer/packets.ts';
import { exchangeUdp } from '../../support/answer/sockets.ts';
import { type TestNode, testNode } from '../../support/answer/test-node.ts';
import { collectingLog } from '../../support/processes/follow.ts';
import { until } from '../../support/tests/until.ts';

const LOOPBACKS: readonly ListenAddress[] = [
  { address: '127.0.0.1', port: 0 },
  { address: '::1', port: 0 },
];

let open: UdpListener[] = [];
afterEach(async () => {
  await Promise.all(open.splice(0).map((listener) => listener.close()));
  open = [];
});

interface Listening {
  readonly listener: UdpListener & { io: string };
  readonly counters: QueryCounters;
  readonly node: TestNode;
}

async function listen(options: Partial<UdpOptions> = {}, node = testNode()): Promise<Listening> {
  const { rateLimit, amplificationLimit, asked, ...settings } = node.settings;
  const counters = new QueryCounters();
  const listener = await listenUdp({
    addresses: LOOPBACKS,
    io: 'auto',
    threads: 1,
    image: node.image.buffer,
    firstSlot: 1,
    settings,
    counters: () => counters.buffer,
    rateLimit: rateLimit?.buffer,
    amplificationLimit: amplificationLimit?.buffer,
    ...(asked && { asked: asked.buffer }),
    log: collectingLog(),
    reportFailure: (error) => node.failures.push(error),
    ...options,
  });
  open.push(listener);
  return { listener, counters, node };
}

describe.each(['koffi', 'dgram'] as const)('a UDP listener with %s', (io) => {
  const listening = (options: Partial<UdpOptions> = {}, node?: TestNode) => listen({ io, ...options }, node);

  test('answers on every address, IPv4 and IPv6', async () => {
    const { listener } = await listening();
    expect(listener.addresses.map(({ address }) => address)).toEqual(['127.0.0.1', '::1']);
    for (const address of listener.addresses) {
      const reply = await exchangeUdp(address, queryFor('www.example.test.', TYPE.A, { opt: '' }));
      expect(summarize(reply!)).toBe('NOERROR aa 1/1/0/0 OPT()');
    }
  });

  test('notes an unproven zone that is asked for, over IPv4 and IPv6', async () => {
    const asked = new AskedMarks();
    const { listener } = await listening({}, testNode({ unproven: true, asked }));
    for (const address of listener.addresses) {
      await exchangeUdp(address, queryFor('example.test.', TYPE.SOA, { opt: '' }));
      expect(asked.take()).toEqual([]);
      await exchangeUdp(address, queryFor('www.example.test.', TYPE.A, { opt: '' }));
      expect(asked.take().length).toBe(1);
    }
  });

  test('counts answers by zone, over IPv4 and IPv6', async () => {
    const zoneCounts = new ZoneCounts();
    const { listener } = await listening({ zoneCounts: () => zoneCounts.buffer });
    for (const address of listener.addresses) {
      await exchangeUdp(address, queryFor('nx.example.test.', TYPE.AAAA));
      const add = vi.fn();
      await until(() => {
        zoneCounts.take({ add, addOther: vi.fn(), addName: vi.fn() });
        return add.mock.calls.length > 0;
      }, 'it is counted');
      expect(add.mock.calls.map(([, ...counted]) => counted)).toEqual([[TYPE.AAAA, 3, 1]]);
    }
  });

  test('is understood by dns-packet', async () => {
    const { listener } = await listening();
    const query = dnsPacket.encode({
      type: 'query',
      id: 9,
      questions: [{ type: 'MX', name: 'Example.test' }],
    });
    const reply = dnsPacket.decode((await exchangeUdp(listener.addresses[0]!, query))!);
    expect(reply).toMatchObject({ id: 9, flag_aa: true, questions: [{ name: 'Example.test' }] });
    expect(reply.answers).toMatchObject([
      { type: 'MX', data: { preference: 10, exchange: 'mail.example.test' } },
    ]);
  });

  test('leaves what deserves silence unanswered, and answers on', async () => {
    const { listener, counters } = await listening();
    const [address] = listener.addresses;
    const response = queryFor('www.example.test.', TYPE.A);
    response[2] = 0x80;
    for (const packet of [Buffer.alloc(0), Buffer.alloc(11), response]) {
      expect(await exchangeUdp(address!, packet, 50)).toBeUndefined();
    }
    await until(() => counters.ignored === 3, 'three ignored packets');
    expect(await exchangeUdp(address!, queryFor('www.example.test.', TYPE.A))).toBeDefined();
  });

  test('answers a burst, each to its asker, and counts and times it', async () => {
    const { listener, counters } = await listening();
    const [address] = listener.addresses;
    const ids = Array.from({ length: 100 }, (_, i) => i);
    const replies = await Promise.all(
      ids.map((id) => exchangeUdp(address!, queryFor('www.example.test.', TYPE.A, { id }))),
    );
    expect(replies.map((reply) => reply?.readUInt16BE(0))).toEqual(ids);
    expect([...counters.answerCounts()]).toEqual([{ transport: 'udp', type: 'A', rcode: 0, count: 100 }]);
    await until(() => counters.latency.reduce((sum, count) => sum + count, 0) === 100, '100 answers timed');
    expect(counters.latencySumSeconds).toBeGreaterThan(0);
  });

  test('answers in every one of many threads more at once than one batch holds', async () => {
    const threads = Array.from({ length: 3 }, () => new QueryCounters());
    const { listener } = await listening({
      addresses: [LOOPBACKS[0]!],
      threads: threads.length,
      counters: (thread) => threads[thread]!.buffer,
      answerer: COMMANDED_ANSWERER,
    });
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
    const timed = () => threads.map(({ latency }) => latency.reduce((sum, count) => sum + count, 0));
    await until(() => timed().reduce((sum, count) => sum + count) === 1000, '1000 answers timed');
    if (io === 'koffi') expect(Math.min(...timed())).toBeGreaterThan(0);
  });

  test('reads a query of the greatest length that UDP has', async () => {
    const { listener } = await listening({ addresses: [LOOPBACKS[0]!] });
    const large = Buffer.alloc(65_507);
    large.set(queryFor('www.example.test.', TYPE.A, { opt: '' }));
    const reply = await exchangeUdp(listener.addresses[0]!, large);
    expect(summarize(reply!)).toBe('NOERROR aa 1/1/0/0 OPT()'); // whatever follows the message is not looked at
  });

  test.each(LOOPBACKS)('hands over the address of the asker: $address', async (address) => {
    const { listener } = await listening({ addresses: [address], answerer: COMMANDED_ANSWERER });
    const reply = await exchangeUdp(listener.addresses[0]!, Buffer.alloc(12));
    const asker = address.address === '::1' ? [...Array(15).fill(0), 1] : [127, 0, 0, 1];
    expect([...reply!.subarray(12)]).toEqual(asker);
  });

  test('loses a packet whose answer throws, and no other', async () => {
    const { listener, counters } = await listening({ answerer: COMMANDED_ANSWERER });
    const [address] = listener.addresses;
    expect(await exchangeUdp(address!, command('throw'), 50)).toBeUndefined();
    expect(await exchangeUdp(address!, Buffer.alloc(12))).toBeDefined();
    expect(counters.unsent).toBe(1);
  });

  test('says which address cannot be had, and holds none of the others', async () => {
    const taken = createSocket('udp4');
    await new Promise<void>((done) => taken.bind(0, '127.0.0.1', done));
    const { port } = taken.address();
    const free = await listening();
    const other = { address: '::1', port: free.listener.addresses[1]!.port };
    await Promise.all(open.splice(0).map((listener) => listener.close()));
    const failing = listening({ addresses: [other, { address: '127.0.0.1', port }] });
    await expect(failing).rejects.toThrow(`bind EADDRINUSE 127.0.0.1:${port}`);
    await expect(failing).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'bind', port });
    await listening({ addresses: [other] });
    await new Promise<void>((done) => taken.close(() => done()));
  });

  test('does not share an address with another listener', async () => {
    const { listener } = await listening({ threads: 2 });
    const again = listening({ threads: 2, addresses: listener.addresses });
    await expect(again).rejects.toMatchObject({ code: 'EADDRINUSE', syscall: 'bind' });
  });

  test('is silent after it was closed', async () => {
    const { listener, counters } = await listening();
    await Promise.all(open.splice(0).map((one) => one.close()));
    const answer = exchangeUdp(listener.addresses[0]!, queryFor('www.example.test.', TYPE.A), 50);
    expect(await answer.catch(() => undefined)).toBeUndefined();
    expect(counters.ignored).toBe(0);
  });
});

describe('a UDP listener with koffi', () => {
  test.each([
    { wildcard: '0.0.0.0', asked: ['127.0.0.1', '127.0.0.2', '127.7.7.7'] },
    { wildcard: '::', asked: ['::1', ...linkLocalAddresses()] },
  ])('answers on $wildcard from the address that was asked', async ({ wildcard, asked }) => {
    const { listener } = await listen({ io: 'koffi', addresses: [{ address: wildcard, port: 0 }] });
    const [{ port }] = listener.addresses as [ListenAddress];
    for (const address of asked) {
      // A connected socket takes nothing from anywhere else.
      const socket = createSocket(address.includes(':') ? 'udp6' : 'udp4');
      const answer = new Promise<Buffer>((done) => socket.once('message', done));
      await new Promise<void>((done) => socket.connect(port, address, done));
      socket.send(queryFor('www.example.test.', TYPE.A));
      expect(summarize(await answer.finally(() => socket.close()))).toBe('NOERROR aa 1/1/0/0');
    }
  });
});

describe('the way to the system', () => {
  test('is koffi by itself where it works, and told', async () => {
    const log = collectingLog();
    const { listener } = await listen({ log });
    expect(listener.io).toBe('koffi');
    expect(log.lines).toMatchObject([{ level: 'info', fields: { io: 'koffi', threads: 1 } }]);
  });

  test('is node:dgram by itself elsewhere, and told why', async () => {
    const log = collectingLog();
    const { listener } = await onPlatform('freebsd', () => listen({ log }));
    expect(listener.io).toBe('dgram');
    expect(log.lines).toMatchObject([
      { level: 'warn', fields: { io: 'dgram', reason: 'the system is freebsd, not linux' } },
    ]);
    expect(await exchangeUdp(listener.addresses[0]!, queryFor('www.example.test.', TYPE.A))).toBeDefined();
  });

  test('is not replaced where koffi is asked for', async () => {
    await expect(onPlatform('freebsd', () => listen({ io: 'koffi' }))).rejects.toThrow('freebsd');
  });
});

function command(word: string): Buffer {
  return Buffer.concat([Buffer.alloc(12), Buffer.from(word)]);
}

function linkLocalAddresses(): string[] {
  return Object.entries(networkInterfaces()).flatMap(([name, addresses]) =>
    (addresses ?? [])
      .filter(({ address }) => address.startsWith('fe80:'))
      .map(({ address }) => `${address}%${name}`),
  );
}

async function onPlatform<T>(platform: string, run: () => Promise<T>): Promise<T> {
  const real = Object.getOwnPropertyDescriptor(process, 'platform')!;
  Object.defineProperty(process, 'platform', { ...real, value: platform });
  try {
    return await run();
  } finally {
    Object.defineProperty(process, 'platform', real);
  }
}
