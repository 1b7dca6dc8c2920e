// One query to misbehaving servers, over real sockets on loopback.

import { existsSync, readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import dnsPacket from 'dns-packet';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import {
  createExchange,
  type Exchange,
  type ExchangeOptions,
  type QueryResult,
} from '../../../src/resolver/exchange/exchange.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';
import { framed } from '../../support/answer/sockets.ts';
import { holdTimers } from '../../support/tests/hold-timers.ts';
import { until } from '../../support/tests/until.ts';
import {
  type Behaviour,
  bindUdp,
  type MisbehavingServer,
  misbehave,
  rightOctets,
  rightReply,
  type Seen,
} from '../../support/world/misbehaving-server.ts';

/** Enough letters that two random cases never agree. */
const NAME = parseName('a-rather-long-name-of-a-domain-with-many-letters.example.');
const NS = [parseName('ns1.provider.example.'), parseName('ns2.provider.example.')];
const PUBLIC = '192.0.2.1';
const FOREVER = new AbortController().signal;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Asking {
  readonly server: MisbehavingServer;
  readonly exchange: Exchange;
  readonly packets: () => number;
  ask(name?: Name, options?: Partial<Parameters<Exchange['ask']>[2]>): Promise<QueryResult>;
  /** Queries only the ordinary way, and lets the time limit of this many packets pass after they have arrived. */
  askPast(timeouts: number): Promise<QueryResult>;
}

async function asking(behaviour: Behaviour, options: Partial<ExchangeOptions> = {}): Promise<Asking> {
  const server = await misbehave(behaviour);
  closers.push(() => server.close());
  const exchange = createExchange({ port: 53, route: () => server, timeoutMs: 3000, ...options });
  closers.push(() => exchange.close());
  let packets = 0;
  const ask: Asking['ask'] = (name = NAME, asked = {}) =>
    exchange.ask(PUBLIC, { name, type: TYPE.NS }, { signal: FOREVER, onPacket: () => packets++, ...asked });
  const askPast = async (timeouts: number) => {
    const timers = holdTimers(options.timeoutMs ?? 0);
    closers.push(async () => timers.release());
    const asked = ask(NAME, { isExact: true });
    for (let count = 1; count <= timeouts; count++) {
      await until(() => server.seen.length === count, 'the packet has arrived');
      await setTimeout(20); // wait for the event loop to deliver the server's datagrams
      timers.fire();
    }
    return await asked;
  };
  return { server, exchange, packets: () => packets, ask, askPast };
}

const SHORT = { timeoutMs: 250 };

function right(seen: Seen, send: (octets: Uint8Array) => void): void {
  send(rightOctets(seen.query, NS));
}

function rightOverTcp(seen: Seen, socket: { write(octets: Uint8Array): unknown }): void {
  socket.write(framed(rightOctets(seen.query, NS)));
}

function truncate(seen: Seen, send: (octets: Uint8Array) => void): void {
  send(rightOctets(seen.query, [], { tc: true }));
}

function nsCount(exchanged: QueryResult): number {
  return exchanged.kind === 'reply' ? exchanged.message.answers.length : -1;
}

function expectReply(exchanged: QueryResult, transport: 'udp' | 'tcp'): void {
  expect(exchanged).toMatchObject({ kind: 'reply', transport });
  expect(nsCount(exchanged)).toBe(NS.length);
}

function errorOf(exchanged: QueryResult): string {
  expect(exchanged.kind).toBe('bad');
  return exchanged.kind === 'bad' ? exchanged.error : '';
}

/** Counts UDP sockets and timers of this process. Closed sockets count until the next round of the event loop. */
function openResources(): { udp: number; timers: number } {
  const kinds = process.getActiveResourcesInfo();
  const count = (kind: string) => kinds.filter((each) => each === kind).length;
  return { udp: count('UDPWrap'), timers: count('Timeout') };
}

/** Timers that other test files have left in this process. */
let othersTimers = 0;

/** Waits until only the test's server is open. */
async function onlyServerOpen(): Promise<void> {
  const left = () => JSON.stringify(openResources());
  await until(() => openResources().udp === 1 && openResources().timers <= othersTimers, left);
}

describe('a query', () => {
  it('is sent only over TCP if the caller requests that', async () => {
    const { server, ask } = await asking({ udp: right, tcp: rightOverTcp }, SHORT);
    expectReply(await ask(NAME, { transport: 'tcp' }), 'tcp');
    expect(server.seen.map(({ query }) => query.edns?.udpPayloadSize)).toEqual([1232]);
    const silent = await asking({ udp: right }, SHORT);
    expect(errorOf(await silent.ask(NAME, { transport: 'tcp' }))).toContain('queried over TCP');
  });

  it('is sent without EDNS if the caller requests that', async () => {
    for (const transport of ['udp', 'tcp'] as const) {
      const { server, ask } = await asking({ udp: right, tcp: rightOverTcp }, SHORT);
      const asked = { edns: false, ...(transport === 'tcp' && { transport }) };
      expectReply(await ask(NAME, asked), transport);
      expect(server.seen.map(({ query }) => query.edns)).toEqual([undefined]);
    }
  });

  it('has RD=0, one question and an OPT record: DO, 1232 octets, version 0', async () => {
    const { server, ask, packets } = await asking({ udp: right });
    const exchanged = await ask();
    expectReply(exchanged, 'udp');
    expect(exchanged.kind === 'reply' && exchanged.rttMs >= 0 && exchanged.rttMs < 3000).toBe(true);
    expect(packets()).toBe(1);
    const [seen] = server.seen as [Seen];
    const decoded = dnsPacket.decode(seen.octets); // an independent reader
    expect(decoded).toMatchObject({
      type: 'query',
      opcode: 'QUERY',
      flags: 0,
      questions: [{ type: 'NS', class: 'IN' }],
    });
    expect(decoded.questions?.[0]?.name.toLowerCase()).toBe(
      'a-rather-long-name-of-a-domain-with-many-letters.example',
    );
    expect(decoded.additionals).toMatchObject([
      { type: 'OPT', name: '.', udpPayloadSize: 1232, ednsVersion: 0, flag_do: true, options: [] },
    ]);
    expect([decoded.answers, decoded.authorities]).toEqual([[], []]);
    expect(seen.octets.length).toBe(dnsPacket.encodingLength(decoded));
  });

  it('has a different id, port and letter case each time (RFC 5452 §9.2)', async () => {
    const { server, ask } = await asking({ udp: right });
    for (let i = 0; i < 30; i++) await ask();
    const distinct = (value: (seen: Seen) => unknown) => new Set(server.seen.map(value)).size;
    // two of 30 may agree by chance, ports more often than ids
    expect(distinct(({ query }) => query.id)).toBeGreaterThan(26);
    expect(distinct(({ port }) => port)).toBeGreaterThan(26);
    expect(distinct(({ query }) => query.questions[0]?.name)).toBe(30);
    expect(new Set(server.seen.map(({ query }) => foldCase(query.questions[0]?.name as Name)))).toEqual(
      new Set([NAME]),
    );
  });

  it('is also sent over IPv6', async ({ skip }) => {
    const asked = await asking({ udp: truncate, tcp: rightOverTcp, address: '::1' }).catch(() => undefined);
    if (asked === undefined) return skip('needs ::1');
    expectReply(await asked.ask(), 'tcp');
    expect(asked.server.seen.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
  });

  it('is bad for a text that is not an address, and nothing is sent', async () => {
    const exchange = createExchange({ port: 53 });
    const unsent = () => expect.unreachable('a packet was sent');
    for (const address of ['localhost', '127.1', '::1%lo', '']) {
      const asked = exchange.ask(
        address,
        { name: NAME, type: TYPE.NS },
        { signal: FOREVER, onPacket: unsent },
      );
      expect(errorOf(await asked)).toContain(`"${address}" is not an address`);
    }
  });

  it('is sent twice to a silent server, with a different id, port and case', async () => {
    const { server, askPast, packets } = await asking({ udp: () => {} }, SHORT);
    expect(await askPast(2)).toEqual({ kind: 'timeout' });
    expect(packets()).toBe(2);
    const [first, second] = server.seen as [Seen, Seen];
    expect(second.octets.subarray(12)).not.toEqual(first.octets.subarray(12));
    expect([second.port, second.query.id]).not.toEqual([first.port, first.query.id]);
  });
});

describe('the client ignores', () => {
  it('datagrams that are not the reply, and keeps waiting', async () => {
    const forged = [parseName('ns.forger.example.')];
    const wrong: readonly ((query: Message) => Uint8Array)[] = [
      (query) => rightOctets({ ...query, id: query.id ^ 1 }, forged),
      (query) => rightOctets({ ...query, questions: [] }, []),
      () => new Uint8Array(0),
      (query) => rightOctets(query, forged).subarray(0, -7),
    ];
    const { ask, packets } = await asking({
      udp: (seen, send) => {
        for (const make of wrong) send(make(seen.query));
        right(seen, send);
      },
    });
    expectReply(await ask(), 'udp');
    expect(packets()).toBe(1);
  });

  it('a reply from another port of the address', async () => {
    const stranger = await bindUdp('127.0.0.1');
    closers.push(async () => stranger.close());
    const forged = [parseName('ns.forger.example.')];
    const { askPast, packets } = await asking(
      {
        udp: (seen, send) => {
          stranger.send(rightOctets(seen.query, forged), seen.port, '127.0.0.1', () => {
            if (seen.index > 0) right(seen, send);
          });
        },
      },
      SHORT,
    );
    expectReply(await askPast(1), 'udp');
    expect(packets()).toBe(2);
  });

  it('a reply from another address', async ({ skip }) => {
    const stranger = await bindUdp('127.0.0.2').catch(() => undefined);
    if (stranger === undefined) return skip('needs 127.0.0.2');
    closers.push(async () => stranger.close());
    const { askPast } = await asking(
      { udp: (seen) => stranger.send(rightOctets(seen.query, NS), seen.port, '127.0.0.1') },
      SHORT,
    );
    expect(await askPast(2)).toEqual({ kind: 'timeout' });
  });

  it('a reply to the first packet that arrives after the second was sent', async () => {
    let late = () => {};
    const { askPast, packets } = await asking(
      {
        udp: (seen, send) => {
          if (seen.index === 0) late = () => send(rightOctets(seen.query, [parseName('late.example.')]));
          else {
            late();
            right(seen, send);
          }
        },
      },
      SHORT,
    );
    expectReply(await askPast(1), 'udp');
    expect(packets()).toBe(2);
  });

  it.each<[string, (query: Message) => Uint8Array, string]>([
    [
      'cannot be read',
      (query) => loopingPointer(query),
      'the reply cannot be parsed: a compression pointer does not point backwards',
    ],
    [
      'has no question',
      (query) => rightOctets({ ...query, questions: [] }, [], { rcode: RCODE.REFUSED }),
      'REFUSED without the question',
    ],
  ])('a reply that %s, but reports it if no better one comes', async (_, make, error) => {
    const behaviour: Behaviour = { udp: (seen, send) => seen.index === 0 && send(make(seen.query)) };
    const { askPast, packets } = await asking(behaviour, SHORT);
    expect(errorOf(await askPast(2))).toContain(error);
    expect(packets()).toBe(2);
  });
});

type Make = (query: Message) => Uint8Array;
const forged = (query: Message) => rightOctets(query, [parseName('ns.forger.example.')]);
const lower = (query: Message): Message => ({ ...query, questions: [{ ...question(query), name: NAME }] });
const isPlain = ({ edns }: Message) => edns === undefined;

const overUdp =
  (make: Make): NonNullable<Behaviour['udp']> =>
  ({ query }, send) =>
    send(make(query));
const overTcp =
  (make: Make): NonNullable<Behaviour['tcp']> =>
  ({ query }, socket) =>
    socket.write(framed(make(query)));

describe('the client retries', () => {
  const good: Make = (query) => rightOctets(query, NS);
  const refusing: Make = (query) => rightOctets(withoutEdns(query), [], { rcode: RCODE.FORMERR });
  const truncated: Make = (query) => rightOctets(query, [], { tc: true });
  const unlessPlain =
    (make: Make, plain: Make = good): Make =>
    (query) =>
      isPlain(query) ? plain(query) : make(query);
  const cut = 'the reply over UDP was truncated; over TCP:';
  const refused = 'connection refused (ECONNREFUSED)';
  const inRecord: Make = (query) => rightOctets(query, NS, { tc: true }).subarray(0, -20);

  /** What the server does | over UDP, over TCP | the transport of the reply or the error | what the server received. */
  it.each<[string, Make, Make | undefined, string, string]>([
    ['sends other letter case', (query) => forged(lower(query)), good, 'tcp', 'udp tcp'],
    [
      'sends it over TCP as well',
      (query) => forged(lower(query)),
      (query) => good(lower(query)),
      'tcp',
      'udp tcp',
    ],
    ['sends it, without TCP', (query) => good(lower(query)), undefined, 'udp', 'udp udp'],
    ['truncates', truncated, good, 'tcp', 'udp tcp'],
    ['truncates within a record', inRecord, good, 'tcp', 'udp tcp'],
    ['truncates, without TCP', truncated, undefined, `${cut} ${refused}`, 'udp'],
    ['truncates over TCP as well', truncated, truncated, `${cut} truncated as well`, 'udp tcp'],
    ['refuses EDNS', unlessPlain(refusing), undefined, 'udp', 'udp udp-plain'],
    [
      'refuses EDNS, then truncates',
      unlessPlain(refusing, truncated),
      good,
      'tcp',
      'udp udp-plain tcp-plain',
    ],
    ['refuses EDNS over TCP only', truncated, unlessPlain(refusing), 'tcp', 'udp tcp tcp-plain'],
  ])('if the server %s', async (_, udp, tcp, expected, received) => {
    const behaviour = { udp: overUdp(udp), ...(tcp && { tcp: overTcp(tcp) }) };
    const { server, ask, packets } = await asking(behaviour);
    const exchanged = await ask();
    if (expected === 'udp' || expected === 'tcp') expectReply(exchanged, expected);
    else expect(errorOf(exchanged)).toBe(expected);
    const seen = server.seen.map(({ transport, query }) => `${transport}${isPlain(query) ? '-plain' : ''}`);
    expect(seen.join(' ')).toBe(received);
    if (tcp !== undefined) expect(packets()).toBe(seen.length);
    const [first, second] = server.seen.map(({ query }) => query) as [Message, Message?];
    if (second !== undefined) expect(foldCase(question(second).name)).toBe(foldCase(question(first).name));
  });

  it('without EDNS, with a different id or port, and the reply reports this', async () => {
    const { server, ask } = await asking({ udp: overUdp(unlessPlain(refusing)) });
    expect(await ask()).toMatchObject({ kind: 'reply', needed: ['no_edns'] });
    const [first, second] = server.seen as [Seen, Seen];
    expect(first.query.edns?.dnssecOk).toBe(true);
    expect(second.query.id === first.query.id && second.port === first.port).toBe(false);
    const plain = await asking({ udp: right });
    expect(await plain.ask()).not.toHaveProperty('needed');
  });

  it('once without EDNS, even if the server then refuses that or is silent', async () => {
    const { ask, packets } = await asking({ udp: overUdp(refusing) });
    expect(await ask()).toMatchObject({ kind: 'reply', message: { rcode: RCODE.FORMERR } });
    expect(packets()).toBe(2);
    const udp: Behaviour['udp'] = (seen, send) => seen.index === 1 && send(refusing(seen.query));
    const silent = await asking({ udp }, SHORT);
    expect(await silent.ask(NAME, { isExact: true })).toEqual({ kind: 'timeout' });
    expect(silent.packets()).toBe(3);
  });
});

describe('over TCP', () => {
  const answering = (tcp: NonNullable<Behaviour['tcp']>, options: Partial<ExchangeOptions> = {}) =>
    asking({ udp: truncate, tcp }, options);

  it('a message may arrive octet by octet', async () => {
    const { ask } = await answering((seen, socket) => {
      socket.setNoDelay(true);
      const octets = framed(rightOctets(seen.query, NS));
      const sendFrom = (at: number): void => {
        if (at < octets.length)
          socket.write(octets.subarray(at, at + 1), () => setImmediate(sendFrom, at + 1));
      };
      sendFrom(0);
    });
    expectReply(await ask(), 'tcp');
  });

  it('a message may have 65,535 octets', async () => {
    const { ask } = await answering((seen, socket) => socket.write(framed(paddedTo(65_535, seen.query))));
    const exchanged = await ask();
    expect(exchanged).toMatchObject({ kind: 'reply', transport: 'tcp' });
    expect(nsCount(exchanged)).toBeGreaterThan(1000);
  });

  it('octets after the message are ignored, regardless of their number', async () => {
    const { ask } = await answering((seen, socket) => {
      socket.write(Buffer.concat([framed(rightOctets(seen.query, NS)), Buffer.alloc(3_000_000, 0xff)]));
    });
    expectReply(await ask(), 'tcp');
  });

  it('silence and a slow trickle are bad after the time limit', async () => {
    let dripping: NodeJS.Timeout | undefined;
    const { ask } = await answering((_seen, socket) => {
      socket.write(Buffer.from([0xff, 0xff]));
      dripping = setInterval(() => socket.write(Buffer.alloc(1)), 20);
    }, SHORT);
    const silent = await answering(() => {}, SHORT);
    for (const exchanged of await Promise.all([ask(), silent.ask()]))
      expect(errorOf(exchanged)).toContain('over TCP: no reply within 250 ms');
    clearInterval(dripping);
  });

  it.each<[string, (seen: Seen) => Uint8Array, string]>([
    ['the end of the connection', () => new Uint8Array(0), 'the connection was closed without a reply'],
    ['half a length', () => Uint8Array.of(0), 'the connection was closed without a reply'],
    [
      'half a message',
      ({ query }) => framed(rightOctets(query, [])).subarray(0, 30),
      'the connection was closed after 28 of 85 octets',
    ],
    ['an empty message', () => Uint8Array.of(0, 0), 'the reply is to another query'],
  ])('%s is bad', async (_, make, error) => {
    const { ask } = await answering((seen, socket) => socket.end(make(seen)));
    expect(errorOf(await ask())).toBe(`the reply over UDP was truncated; over TCP: ${error}`);
  });

  it('a reset connection is bad', async () => {
    const { ask } = await answering((_seen, socket) => socket.resetAndDestroy());
    expect(errorOf(await ask())).toContain('over TCP: connection reset');
  });
});

it('a closed port and an unreachable address are bad immediately', async () => {
  const { server, ask, packets } = await asking({});
  await server.close();
  closers.shift();
  const refused = 'connection refused (ECONNREFUSED)';
  expect(errorOf(await ask())).toBe(`${refused}; over TCP: ${refused}`);
  expect(packets()).toBe(2);
  expect(errorOf(await ask(NAME, { isExact: true }))).toBe(refused);
  // broadcast: forbidden or without a route, depending on the host
  const exchange = createExchange({ port: 53, route: () => ({ address: '255.255.255.255', port: 53 }) });
  const exchanged = exchange.ask(
    PUBLIC,
    { name: NAME, type: TYPE.NS },
    { signal: FOREVER, onPacket: () => {} },
  );
  expect(errorOf(await exchanged)).toMatch(/forbidden on this host|network is unreachable/);
});

describe('sockets and timers', () => {
  beforeEach(() => {
    othersTimers = openResources().timers;
  });

  it('are released when the last query has ended in any way', async () => {
    const { ask, server } = await asking(
      {
        udp: (seen, send) => {
          const name = foldCase(question(seen.query).name);
          if (name.startsWith('\x05right')) right(seen, send);
          else if (name.startsWith('\x09truncated')) truncate(seen, send);
          else if (name.startsWith('\x05wrong')) send(loopingPointer(seen.query));
        },
        tcp: rightOverTcp,
      },
      SHORT,
    );
    await onlyServerOpen();
    const timers = holdTimers(SHORT.timeoutMs);
    closers.push(async () => timers.release());
    const asked = ['right', 'truncated', 'wrong', 'silent'].flatMap((label) =>
      Array.from({ length: 20 }, (_, i) => ask(parseName(`${label}.n${i}.example.`), { isExact: true })),
    );
    expect(openResources().udp).toBe(1 + asked.length);
    await Promise.all(asked.slice(0, 40));
    for (const tries of [1, 2]) {
      const unanswered = () =>
        server.seen.filter(({ query }) => /^.(wrong|silent)/.test(foldCase(question(query).name)));
      await until(() => unanswered().length === tries * 40, 'all that wait have been heard');
      await ask(parseName('right.after-all.example.')); // by now the wrong replies have arrived
      timers.fire();
    }
    const kinds = (await Promise.all(asked)).map(({ kind }) => kind);
    expect(kinds).toEqual([
      ...Array(40).fill('reply'),
      ...Array(20).fill('bad'),
      ...Array(20).fill('timeout'),
    ]);
    await onlyServerOpen();
  });

  it('are released when the signal aborts, and the query rejects with its reason', async () => {
    const { ask, server } = await asking({ udp: truncate, tcp: () => {} });
    await onlyServerOpen();
    const controller = new AbortController();
    const asked = Array.from({ length: 15 }, () => ask(NAME, { signal: controller.signal }));
    await until(() => server.seen.length === 30, 'all wait over TCP');
    const reason = new Error('enough');
    controller.abort(reason);
    for (const each of asked) await expect(each).rejects.toBe(reason);
    await onlyServerOpen();
    await expect(ask(NAME, { signal: controller.signal })).rejects.toBe(reason);
    expect(server.seen.length).toBe(30);
  });

  it('are not opened if the caller aborts while it counts packets', async () => {
    const { server, ask } = await asking({ udp: truncate, tcp: rightOverTcp }, { maxSockets: 1 });
    for (const most of [0, 1, 0, 1]) {
      const controller = new AbortController();
      let packets = 0;
      const onPacket = () => {
        if (++packets > most) controller.abort(new Error('one too many'));
      };
      await expect(ask(NAME, { signal: controller.signal, onPacket })).rejects.toThrow('one too many');
    }
    expect(server.seen.length).toBe(2);
    expectReply(await ask(), 'tcp');
  });

  it.skipIf(!existsSync('/proc/self/fd'))('are limited in number for hundreds of queries', async () => {
    // 16 queries each, as many as fit into a socket's buffer
    const { exchange } = await asking({ udp: right }, { maxSockets: 6 });
    await onlyServerOpen();
    const open = () => readdirSync('/proc/self/fd').length;
    const before = open();
    let most = before;
    const onPacket = () => {
      most = Math.max(most, open());
    };
    const asked = Array.from({ length: 400 }, (_, i) => {
      const query = { name: parseName(`n${i}.example.`), type: TYPE.NS };
      return exchange.ask(`192.0.2.${i % 100}`, query, { signal: FOREVER, onPacket });
    });
    onPacket();
    expect(new Set((await Promise.all(asked)).map(({ kind }) => kind))).toEqual(new Set(['reply']));
    expect(most - before).toBe(6);
  });

  it('are shared fairly: many queries to one address do not delay another', async () => {
    const silent = await misbehave({});
    closers.push(() => silent.close());
    const server = await misbehave({ udp: right });
    const route = (address: string) => (address === PUBLIC ? silent : server);
    const { exchange, ask } = await asking({}, { route, maxSockets: 4, ...SHORT });
    closers.push(() => server.close());
    const controller = new AbortController();
    const options = { signal: controller.signal, onPacket: () => {} };
    const toSilent = Array.from({ length: 2000 }, () => ask(NAME, options).catch(() => undefined));
    expectReply(await exchange.ask('192.0.2.2', { name: NAME, type: TYPE.NS }, options), 'udp');
    expect(silent.seen.length).toBeLessThan(40); // a few sockets' worth of 4,000 packets
    controller.abort();
    await Promise.all(toSilent);
  });

  it('are released when the exchange is closed, and its queries are bad', async () => {
    // two over UDP, one over TCP, the others waiting
    const silent = parseName('silent.example.');
    const isSilent = ({ query }: Seen) => foldCase(question(query).name) === silent;
    const { ask, exchange, server } = await asking(
      { udp: (seen, send) => isSilent(seen) || truncate(seen, send), tcp: () => {} },
      { maxSockets: 3 },
    );
    const asked = [silent, silent, ...Array<Name>(100).fill(NAME)].map((name) => ask(name));
    await until(() => server.seen.some(({ transport }) => transport === 'tcp'), 'one is queried over TCP');
    await exchange.close();
    for (const error of (await Promise.all(asked)).map(errorOf))
      expect(error).toContain('the exchange was closed');
    await onlyServerOpen();
    expect(errorOf(await ask())).toBe('the exchange was closed');
  });
});

function question(query: Message): Message['questions'][number] {
  return query.questions[0] as Message['questions'][number];
}

function withoutEdns(query: Message): Message {
  const { edns: _, ...rest } = query;
  return rest;
}

/** A reply with one record whose owner is a pointer to itself. */
function loopingPointer(query: Message): Uint8Array {
  const octets = rightOctets(withoutEdns(query), []);
  const at = octets.length;
  const looping = Buffer.alloc(at + 16);
  looping.set(octets);
  looping.writeUInt16BE(0xc000 | at, at);
  looping.writeUInt16BE(TYPE.TXT, at + 2);
  looping.writeUInt16BE(CLASS.IN, at + 4);
  looping.writeUInt16BE(1, 6);
  return looping;
}

/** A reply of exactly this many octets: NS records, and the rest in one TXT record. */
function paddedTo(octets: number, query: Message): Uint8Array {
  const plain = withoutEdns(query);
  const reply = rightReply(plain, Array<Name>(2000).fill(NS[0] as Name));
  const filler = (length: number) => ({
    owner: '\0' as Name,
    type: 65_280,
    class: CLASS.IN,
    ttl: 0,
    rdata: new Uint8Array(length),
  });
  const without = encodeMessage({ ...reply, additionals: [filler(0)] });
  const whole = encodeMessage({ ...reply, additionals: [filler(octets - without.length)] });
  expect(whole.length).toBe(octets);
  return whole;
}
