// One question to servers that answer wrongly in every way, over real sockets on loopback.

import { existsSync, readdirSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import dnsPacket from 'dns-packet';
import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { foldCase, type Name, parseName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import {
  type AskedWay,
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

/** Enough letters that two random cases of them never agree. */
const NAME = parseName('a-rather-long-name-of-a-domain-with-many-letters.example.');
const OTHER = parseName('another-name.example.');
const NS = [parseName('ns1.provider.example.'), parseName('ns2.provider.example.')];
const SHORT_MS = 250;
const PUBLIC = '192.0.2.1';

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

interface Asking {
  readonly server: MisbehavingServer;
  readonly exchange: Exchange;
  readonly packets: () => number;
  ask(name?: Name, signal?: AbortSignal): Promise<QueryResult>;
  /** Asks, and lets the time limit of this many packets pass after they have arrived. */
  askPast(timeouts: number): Promise<QueryResult>;
}

async function asking(behaviour: Behaviour, options: Partial<ExchangeOptions> = {}): Promise<Asking> {
  const server = await misbehave(behaviour);
  closers.push(() => server.close());
  const exchange = createExchange({ port: 53, route: () => server, timeoutMs: 3000, ...options });
  closers.push(() => exchange.close());
  let packets = 0;
  const ask = (name = NAME, signal = new AbortController().signal) =>
    exchange.ask(PUBLIC, { name, type: TYPE.NS }, { signal, onPacket: () => packets++ });
  const askPast = async (timeouts: number) => {
    const timers = holdTimers(options.timeoutMs ?? 0);
    closers.push(async () => timers.release());
    const asked = ask();
    for (let count = 1; count <= timeouts; count++) {
      await until(() => server.seen.length === count, 'the packet has arrived');
      await setTimeout(20); // a round of the event loop brings the server's datagrams
      timers.fire();
    }
    return await asked;
  };
  return { server, exchange, packets: () => packets, ask, askPast };
}

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

/** UDP sockets and timers that this process has; closed sockets count until the event loop has gone round. */
function openResources(): { udp: number; timers: number } {
  const kinds = process.getActiveResourcesInfo();
  const count = (kind: string) => kinds.filter((each) => each === kind).length;
  return { udp: count('UDPWrap'), timers: count('Timeout') };
}

/** Waits until nothing but the one server of the test is open. */
async function onlyServerOpen(): Promise<void> {
  const left = () => JSON.stringify(openResources());
  await until(() => openResources().udp === 1 && openResources().timers === 0, left);
}

describe('a question that is to be asked in one way', () => {
  const way = async (behaviour: Behaviour, asked: AskedWay) => {
    const { server, exchange } = await asking(behaviour, { timeoutMs: SHORT_MS });
    const question = { name: NAME, type: TYPE.NS };
    const { signal } = new AbortController();
    return {
      server,
      exchanged: await exchange.ask(PUBLIC, question, { signal, onPacket: () => {}, ...asked }),
    };
  };

  it('goes over TCP alone, where only TCP is wanted', async () => {
    const { server, exchanged } = await way({ udp: right, tcp: rightOverTcp }, { transport: 'tcp' });
    expectReply(exchanged, 'tcp');
    expect(server.seen.map(({ query }) => query.edns?.udpPayloadSize)).toEqual([1232]);
    const { exchanged: silent } = await way({ udp: right }, { transport: 'tcp' });
    expect(errorOf(silent)).toContain('asked over TCP');
  });

  it('goes out without EDNS, where none is wanted', async () => {
    for (const transport of [undefined, 'tcp'] as const) {
      const asked = { edns: false, ...(transport && { transport }) };
      const { server, exchanged } = await way({ udp: right, tcp: rightOverTcp }, asked);
      expectReply(exchanged, transport ?? 'udp');
      expect(server.seen.map(({ query }) => query.edns)).toEqual([undefined]);
    }
  });
});

describe('a question', () => {
  it('goes out with RD=0, one question and an OPT record: DO, 1232 octets, version 0', async () => {
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

  it('has an id, a port and letter case of its own each time (RFC 5452 §9.2)', async () => {
    const { server, ask } = await asking({ udp: right });
    for (let i = 0; i < 30; i++) await ask();
    const distinct = (value: (seen: Seen) => unknown) => new Set(server.seen.map(value)).size;
    // two of 30 may agree by chance, in ports more easily than in ids
    expect(distinct(({ query }) => query.id)).toBeGreaterThan(26);
    expect(distinct(({ port }) => port)).toBeGreaterThan(26);
    expect(distinct(({ query }) => query.questions[0]?.name)).toBe(30);
    expect(new Set(server.seen.map(({ query }) => foldCase(query.questions[0]?.name as Name)))).toEqual(
      new Set([NAME]),
    );
  });

  it('goes over IPv6 too', async ({ skip }) => {
    const asked = await asking({ udp: truncate, tcp: rightOverTcp, address: '::1' }).catch(() => undefined);
    if (asked === undefined) return skip('needs ::1');
    expectReply(await asked.ask(), 'tcp');
    expect(asked.server.seen.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
  });

  it('to something that is no address is bad, and nothing is sent', async () => {
    const exchange = createExchange({ port: 53 });
    const fail = () => expect.unreachable('a packet was sent');
    for (const address of ['localhost', '127.1', '::1%lo', '']) {
      const options = { signal: new AbortController().signal, onPacket: fail };
      expect(errorOf(await exchange.ask(address, { name: NAME, type: TYPE.NS }, options))).toContain(
        `"${address}" is not an address`,
      );
    }
  });
});

describe('silence', () => {
  it('is asked twice, with another id, port and case, and then a timeout', async () => {
    const { server, askPast, packets } = await asking({ udp: () => {} }, { timeoutMs: SHORT_MS });
    expect(await askPast(2)).toEqual({ kind: 'timeout' });
    expect(packets()).toBe(2);
    const [first, second] = server.seen as [Seen, Seen];
    expect(second.octets.subarray(12)).not.toEqual(first.octets.subarray(12));
    expect([second.port, second.query.id]).not.toEqual([first.port, first.query.id]);
  });

  it('the first time only is a reply', async () => {
    const { askPast, packets } = await asking(
      { udp: (seen, send) => seen.index > 0 && right(seen, send) },
      { timeoutMs: SHORT_MS },
    );
    expectReply(await askPast(1), 'udp');
    expect(packets()).toBe(2);
  });
});

describe('what is not the reply is waited out', () => {
  const wrong: Record<string, (query: Message) => Uint8Array> = {
    'another id': (query) => rightOctets({ ...query, id: query.id ^ 1 }, NS),
    'another name': (query) =>
      rightOctets({ ...query, questions: [{ ...question(query), name: OTHER }] }, NS),
    'another type': (query) =>
      rightOctets({ ...query, questions: [{ ...question(query), type: TYPE.A }] }, NS),
    'another class': (query) =>
      rightOctets({ ...query, questions: [{ ...question(query), class: CLASS.CH }] }, NS),
    'two questions': (query) => rightOctets({ ...query, questions: [question(query), question(query)] }, NS),
    'no question': (query) => rightOctets({ ...query, questions: [] }, []),
    'a query in place of a reply': (query) => rightOctets(query, NS, { qr: false }),
    'another opcode': (query) => rightOctets(query, NS, { opcode: 4 }),
    'an empty datagram': () => new Uint8Array(0),
    'one octet': () => new Uint8Array(1),
    'half a header': (query) => rightOctets(query, NS).subarray(0, 7),
    'a reply cut in its records': (query) => rightOctets(query, NS).subarray(0, -7),
    'a name that points at itself': (query) => loopingPointer(query, 'answer'),
    'a question that points at itself': (query) => loopingPointer(query, 'question'),
  };

  for (const [what, make] of Object.entries(wrong)) {
    it(what, async () => {
      const { ask, packets } = await asking({
        udp: (seen, send) => {
          send(make(seen.query));
          right(seen, send);
        },
      });
      expectReply(await ask(), 'udp');
      expect(packets()).toBe(1);
    });
  }

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
      { timeoutMs: SHORT_MS },
    );
    const exchanged = await askPast(1);
    expectReply(exchanged, 'udp');
    expect(packets()).toBe(2);
  });

  it('a reply from another address', async ({ skip }) => {
    const stranger = await bindUdp('127.0.0.2').catch(() => undefined);
    if (stranger === undefined) return skip('needs 127.0.0.2');
    closers.push(async () => stranger.close());
    const { askPast } = await asking(
      { udp: (seen) => stranger.send(rightOctets(seen.query, NS), seen.port, '127.0.0.1') },
      { timeoutMs: SHORT_MS },
    );
    expect(await askPast(2)).toEqual({ kind: 'timeout' });
  });

  it('and a reply to the first packet that comes after the second was sent', async () => {
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
      { timeoutMs: SHORT_MS },
    );
    expectReply(await askPast(1), 'udp');
    expect(packets()).toBe(2);
  });

  it('and is bad when it had the id and nothing better came', async () => {
    const { askPast, packets } = await asking(
      { udp: (seen, send) => seen.index === 0 && send(loopingPointer(seen.query, 'answer')) },
      { timeoutMs: SHORT_MS },
    );
    expect(errorOf(await askPast(2))).toBe(
      'a reply that cannot be read: a compression pointer does not point backwards',
    );
    expect(packets()).toBe(2);
  });

  it('and is bad, with its rcode, when it repeats no question', async () => {
    const { askPast } = await asking(
      {
        udp: (seen, send) =>
          send(rightOctets({ ...seen.query, questions: [] }, [], { rcode: RCODE.REFUSED })),
      },
      { timeoutMs: SHORT_MS },
    );
    expect(errorOf(await askPast(2))).toContain('REFUSED without the question');
  });

  it('whatever octets follow the id', async () => {
    const { ask } = await asking({
      udp: (seen, send) => {
        for (const octets of mutations(rightOctets(seen.query, NS), seen.octets, 300)) send(octets);
        right(seen, send);
      },
    });
    expect(['reply', 'bad']).toContain((await ask()).kind);
  });
});

describe('other letter case', () => {
  const lower = (query: Message): Message => ({ ...query, questions: [{ ...question(query), name: NAME }] });

  it('is dropped, and the same question asked over TCP', async () => {
    const forged = [parseName('ns.forger.example.')];
    const { server, ask, packets } = await asking({
      udp: (seen, send) => send(rightOctets(lower(seen.query), forged)),
      tcp: rightOverTcp,
    });
    expectReply(await ask(), 'tcp');
    expect(packets()).toBe(2);
    expect(server.seen.map(({ transport }) => transport)).toEqual(['udp', 'tcp']);
    const [first, second] = server.seen as [Seen, Seen];
    expect(foldCase(question(second.query).name)).toBe(foldCase(question(first.query).name));
    expect(second.query.edns).toEqual(first.query.edns);
  });

  it('over TCP is a reply: there the connection proves who answers', async () => {
    const { ask } = await asking({
      udp: (seen, send) => send(rightOctets(lower(seen.query), NS)),
      tcp: (seen, socket) => socket.write(framed(rightOctets(lower(seen.query), NS))),
    });
    expectReply(await ask(), 'tcp');
  });

  it('without TCP is bad', async () => {
    const { ask } = await asking({ udp: (seen, send) => send(rightOctets(lower(seen.query), NS)) });
    expect(errorOf(await ask())).toBe(
      'the reply over UDP had not the letters of the question, and over TCP: connection refused (ECONNREFUSED)',
    );
  });
});

describe('a server without EDNS', () => {
  const refusals: Record<string, (query: Message) => Uint8Array> = {
    'FORMERR with an OPT record': (query) => rightOctets(query, [], { rcode: RCODE.FORMERR }),
    'FORMERR without': (query) => rightOctets(withoutEdns(query), [], { rcode: RCODE.FORMERR }),
    'a bare header with FORMERR': (query) =>
      rightOctets({ ...withoutEdns(query), questions: [] }, [], { rcode: RCODE.FORMERR }),
    NOTIMP: (query) => rightOctets(withoutEdns(query), [], { rcode: RCODE.NOTIMP }),
    BADVERS: (query) => rightOctets(query, [], { rcode: RCODE.BADVERS }),
  };
  for (const [what, refuse] of Object.entries(refusals)) {
    it(`that says ${what} is asked once more without`, async () => {
      const { server, ask, packets } = await asking({
        udp: (seen, send) => (seen.query.edns === undefined ? right(seen, send) : send(refuse(seen.query))),
      });
      expectReply(await ask(), 'udp');
      expect(packets()).toBe(2);
      const [first, second] = server.seen as [Seen, Seen];
      expect([first.query.edns?.dnssecOk, second.query.edns]).toEqual([true, undefined]);
      expect(second.query.id === first.query.id && second.port === first.port).toBe(false);
    });
  }

  it('and the reply tells that, for those who look for it', async () => {
    const { ask } = await asking({
      udp: (seen, send) =>
        seen.query.edns === undefined
          ? right(seen, send)
          : send(rightOctets(withoutEdns(seen.query), [], { rcode: RCODE.FORMERR })),
    });
    expect(await ask()).toMatchObject({ kind: 'reply', refusedEdns: true });
    const plain = await asking({ udp: right });
    expect(await plain.ask()).not.toHaveProperty('refusedEdns');
  });

  it('that says FORMERR to the plain question too has given its reply', async () => {
    const { ask, packets } = await asking({
      udp: (seen, send) => send(rightOctets(withoutEdns(seen.query), [], { rcode: RCODE.FORMERR })),
    });
    expect(await ask()).toMatchObject({ kind: 'reply', message: { rcode: RCODE.FORMERR } });
    expect(packets()).toBe(2);
  });

  it('is asked over TCP without, after TC to the plain question', async () => {
    const { server, ask } = await asking({
      udp: (seen, send) =>
        seen.query.edns === undefined
          ? truncate(seen, send)
          : send(rightOctets(withoutEdns(seen.query), [], { rcode: RCODE.FORMERR })),
      tcp: rightOverTcp,
    });
    expectReply(await ask(), 'tcp');
    expect(server.seen.map(({ transport, query }) => [transport, query.edns !== undefined])).toEqual([
      ['udp', true],
      ['udp', false],
      ['tcp', false],
    ]);
  });

  it('that says so over TCP only is asked there once more', async () => {
    const { ask, packets } = await asking({
      udp: truncate,
      tcp: (seen, socket) =>
        seen.query.edns === undefined
          ? rightOverTcp(seen, socket)
          : socket.end(framed(rightOctets(withoutEdns(seen.query), [], { rcode: RCODE.FORMERR }))),
    });
    expectReply(await ask(), 'tcp');
    expect(packets()).toBe(3);
  });

  it('that is silent after it refused gets no third try', async () => {
    const { ask, packets } = await asking(
      {
        udp: (seen, send) => seen.index === 1 && send(rightOctets(seen.query, [], { rcode: RCODE.FORMERR })),
      },
      { timeoutMs: SHORT_MS },
    );
    expect(await ask()).toEqual({ kind: 'timeout' });
    expect(packets()).toBe(3);
  });
});

describe('TC', () => {
  it('leads to TCP', async () => {
    const { ask, packets } = await asking({ udp: truncate, tcp: rightOverTcp });
    expectReply(await ask(), 'tcp');
    expect(packets()).toBe(2);
  });

  it('leads to TCP also when the message is cut within a record', async () => {
    const { ask } = await asking({
      udp: (seen, send) => send(rightOctets(seen.query, NS, { tc: true }).subarray(0, -20)),
      tcp: rightOverTcp,
    });
    expectReply(await ask(), 'tcp');
  });

  it('without TCP is bad at once', async () => {
    const { ask } = await asking({ udp: truncate });
    expect(errorOf(await ask())).toBe(
      'the reply over UDP was cut short, and over TCP: connection refused (ECONNREFUSED)',
    );
  });

  it('over TCP as well is bad', async () => {
    const { ask, packets } = await asking({
      udp: truncate,
      tcp: (seen, socket) => socket.write(framed(rightOctets(seen.query, [], { tc: true }))),
    });
    expect(errorOf(await ask())).toBe('the reply over UDP was cut short, and over TCP: cut short as well');
    expect(packets()).toBe(2);
  });
});

describe('over TCP', () => {
  const overTcp = (tcp: NonNullable<Behaviour['tcp']>, options: Partial<ExchangeOptions> = {}) =>
    asking({ udp: truncate, tcp }, options);

  it('a message may come octet by octet', async () => {
    const { ask } = await overTcp((seen, socket) => {
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
    const { ask } = await overTcp((seen, socket) => {
      const octets = paddedTo(65_535, seen.query);
      socket.write(framed(octets));
    });
    const exchanged = await ask();
    expect(exchanged).toMatchObject({ kind: 'reply', transport: 'tcp' });
    expect(nsCount(exchanged)).toBeGreaterThan(1000);
  });

  it('octets behind the message are ignored, however many', async () => {
    const { ask } = await overTcp((seen, socket) => {
      socket.write(Buffer.concat([framed(rightOctets(seen.query, NS)), Buffer.alloc(3_000_000, 0xff)]));
    });
    expectReply(await ask(), 'tcp');
  });

  it('a slow drip ends with the time limit, not with the next octet', async () => {
    let dripping: NodeJS.Timeout | undefined;
    const { ask } = await overTcp(
      (_seen, socket) => {
        socket.write(Buffer.from([0xff, 0xff]));
        dripping = setInterval(() => socket.write(Buffer.alloc(1)), 20);
      },
      { timeoutMs: SHORT_MS },
    );
    expect(errorOf(await ask())).toContain('over TCP: no reply within 250 ms');
    clearInterval(dripping);
  });

  it('silence is bad: the server did answer over UDP', async () => {
    const { ask } = await overTcp(() => {}, { timeoutMs: SHORT_MS });
    expect(errorOf(await ask())).toContain('over TCP: no reply within 250 ms');
  });

  const broken: Record<string, [(seen: Seen) => Uint8Array, string]> = {
    'the end of the connection': [() => new Uint8Array(0), 'the connection was closed without a reply'],
    'half a length': [() => Uint8Array.of(0), 'the connection was closed without a reply'],
    'half a message': [
      ({ query }) => framed(rightOctets(query, [])).subarray(0, 30),
      'the connection was closed after 28 of 85 octets',
    ],
    'an empty message': [() => Uint8Array.of(0, 0), 'a reply to something else'],
    'another id': [
      ({ query }) => framed(rightOctets({ ...query, id: query.id ^ 1 }, NS)),
      'a reply to something else',
    ],
    'another question': [
      ({ query }) => framed(rightOctets({ ...query, questions: [{ ...question(query), name: OTHER }] }, NS)),
      'a reply to something else',
    ],
    'a looping pointer': [
      ({ query }) => framed(loopingPointer(query, 'answer')),
      'a reply that cannot be read: a compression pointer does not point backwards',
    ],
  };
  for (const [what, [make, error]] of Object.entries(broken)) {
    it(`${what} is bad`, async () => {
      const { ask } = await overTcp((seen, socket) => socket.end(make(seen)));
      expect(errorOf(await ask())).toBe(`the reply over UDP was cut short, and over TCP: ${error}`);
    });
  }

  it('a reset connection is bad', async () => {
    const { ask } = await overTcp((_seen, socket) => socket.resetAndDestroy());
    expect(errorOf(await ask())).toContain('over TCP: connection reset');
  });
});

describe('a port where nobody listens', () => {
  it('is bad at once', async () => {
    const { server, ask, packets } = await asking({});
    await server.close();
    closers.shift();
    expect(errorOf(await ask())).toBe('connection refused (ECONNREFUSED)');
    expect(packets()).toBe(1);
  });

  it('and an address that cannot be reached are bad at once', async () => {
    // broadcast: forbidden, or no route, according to the host
    const exchange = createExchange({ port: 53, route: () => ({ address: '255.255.255.255', port: 53 }) });
    const options = { signal: new AbortController().signal, onPacket: () => {} };
    const exchanged = await exchange.ask(PUBLIC, { name: NAME, type: TYPE.NS }, options);
    expect(errorOf(exchanged)).toMatch(/forbidden on this host|network is unreachable/);
  });
});

describe('sockets and timers', () => {
  it('are gone when the last question has ended, in whatever way', async () => {
    const { ask, server } = await asking(
      {
        udp: (seen, send) => {
          const name = foldCase(question(seen.query).name);
          if (name.startsWith('\x05right')) right(seen, send);
          else if (name.startsWith('\x09truncated')) truncate(seen, send);
          else if (name.startsWith('\x05wrong')) send(loopingPointer(seen.query, 'answer'));
        },
        tcp: rightOverTcp,
      },
      { timeoutMs: SHORT_MS },
    );
    await onlyServerOpen();
    const timers = holdTimers(SHORT_MS);
    closers.push(async () => timers.release());
    const asked = ['right', 'truncated', 'wrong', 'silent'].flatMap((label) =>
      Array.from({ length: 20 }, (_, i) => ask(parseName(`${label}.n${i}.example.`))),
    );
    expect(openResources().udp).toBe(1 + asked.length);
    await Promise.all(asked.slice(0, 40));
    for (const tries of [1, 2]) {
      const unanswered = () =>
        server.seen.filter(({ query }) => /^.(wrong|silent)/.test(foldCase(question(query).name)));
      await until(() => unanswered().length === tries * 40, 'all that wait have been heard');
      await ask(parseName('right.after-all.example.')); // by now the wrong replies have come
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

  it('are gone when the signal aborts, and the question rejects with its reason', async () => {
    const { ask, server } = await asking({ udp: truncate, tcp: () => {} });
    await onlyServerOpen();
    const controller = new AbortController();
    const asked = Array.from({ length: 15 }, () => ask(NAME, controller.signal));
    await until(() => server.seen.length === 30, 'all wait over TCP');
    const reason = new Error('enough');
    controller.abort(reason);
    for (const each of asked) await expect(each).rejects.toBe(reason);
    await onlyServerOpen();
    await expect(ask(NAME, controller.signal)).rejects.toBe(reason);
    expect(server.seen.length).toBe(30);
  });

  it('are not opened by whoever counts packets and aborts', async () => {
    const server = await misbehave({ udp: truncate, tcp: rightOverTcp });
    closers.push(() => server.close());
    const exchange = createExchange({ port: 53, route: () => server, maxSockets: 1 });
    closers.push(() => exchange.close());
    for (const most of [0, 1, 0, 1]) {
      const controller = new AbortController();
      let packets = 0;
      const onPacket = () => {
        if (++packets > most) controller.abort(new Error('one too many'));
      };
      const asked = exchange.ask(
        PUBLIC,
        { name: NAME, type: TYPE.NS },
        { signal: controller.signal, onPacket },
      );
      await expect(asked).rejects.toThrow('one too many');
    }
    expect(server.seen.length).toBe(2);
    const options = { signal: new AbortController().signal, onPacket: () => {} };
    expectReply(await exchange.ask(PUBLIC, { name: NAME, type: TYPE.NS }, options), 'tcp');
  });

  it.skipIf(!existsSync('/proc/self/fd'))(
    'are at most as many as allowed, with a thousand questions to many addresses at once',
    async () => {
      const server = await misbehave({ udp: right });
      closers.push(() => server.close());
      const exchange = createExchange({ port: 53, route: () => server, maxSockets: 6 }); // 16 questions each: what a socket's buffer holds
      closers.push(() => exchange.close());
      await onlyServerOpen();
      const open = () => readdirSync('/proc/self/fd').length;
      const before = open();
      const { signal } = new AbortController();
      let most = before;
      const look = () => {
        most = Math.max(most, open());
      };
      const asked = Array.from({ length: 1000 }, (_, i) =>
        exchange.ask(
          `192.0.2.${i % 100}`,
          { name: parseName(`n${i}.example.`), type: TYPE.NS },
          { signal, onPacket: look },
        ),
      );
      look();
      expect(new Set((await Promise.all(asked)).map(({ kind }) => kind))).toEqual(new Set(['reply']));
      expect(most - before).toBe(6);
    },
  );

  it('go round: an address with very many questions does not keep another one waiting', async () => {
    const silent = await misbehave({});
    const server = await misbehave({ udp: right });
    closers.push(
      () => silent.close(),
      () => server.close(),
    );
    const exchange = createExchange({
      port: 53,
      route: (address) => (address === '192.0.2.1' ? silent : server),
      maxSockets: 4,
      timeoutMs: SHORT_MS,
    });
    closers.push(() => exchange.close());
    const controller = new AbortController();
    const options = { signal: controller.signal, onPacket: () => {} };
    const toSilent = Array.from({ length: 2000 }, () =>
      exchange.ask('192.0.2.1', { name: NAME, type: TYPE.NS }, options).then(
        () => undefined,
        () => undefined,
      ),
    );
    expectReply(await exchange.ask('192.0.2.2', { name: NAME, type: TYPE.NS }, options), 'udp');
    expect(silent.seen.length).toBeLessThan(40); // some sockets' worth: of 4,000 for all
    controller.abort();
    await Promise.all(toSilent);
  });

  it('are gone when the exchange is closed, and its questions are bad', async () => {
    // two over UDP, one over TCP, the others in line
    const silent = parseName('silent.example.');
    const isSilent = ({ query }: Seen) => foldCase(question(query).name) === silent;
    const { ask, exchange, server } = await asking(
      { udp: (seen, send) => isSilent(seen) || truncate(seen, send), tcp: () => {} },
      { maxSockets: 3 },
    );
    const asked = [silent, silent, ...Array<Name>(100).fill(NAME)].map((name) => ask(name));
    await until(() => server.seen.some(({ transport }) => transport === 'tcp'), 'one is asked over TCP');
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

/** A reply with one record whose owner, or with a question whose name, is a pointer to itself. */
function loopingPointer(query: Message, where: 'question' | 'answer'): Uint8Array {
  const octets = rightOctets(withoutEdns(query), []);
  const at = where === 'question' ? 12 : octets.length;
  const looping = Buffer.alloc(at + 16);
  looping.set(octets.subarray(0, at));
  looping.writeUInt16BE(0xc000 | at, at);
  looping.writeUInt16BE(where === 'question' ? TYPE.NS : TYPE.TXT, at + 2);
  looping.writeUInt16BE(CLASS.IN, at + 4);
  if (where === 'answer') looping.writeUInt16BE(1, 6);
  return looping;
}

/** A reply of exactly that many octets: NS records, and the rest in one TXT record. */
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

/** The reply with octets changed, cut and added, behind the id: the same every time. */
function mutations(reply: Uint8Array, query: Uint8Array, count: number): Uint8Array[] {
  let state = 12_345;
  const random = (below: number) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  return Array.from({ length: count }, () => {
    const octets = Buffer.from(
      reply.subarray(0, random(4) === 0 ? 2 + random(reply.length - 2) : reply.length),
    );
    for (let i = random(6); i >= 0 && octets.length > 3; i--)
      octets[3 + random(octets.length - 3)] = random(256);
    octets.set(query.subarray(0, 2));
    return octets;
  });
}
