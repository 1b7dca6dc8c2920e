import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import type { QueryResult } from '../../../src/resolver/exchange/exchange.ts';
import {
  classifyResolverReply,
  type ResolverReply,
} from '../../../src/resolver/replies/classify-resolver-reply.ts';
import { DEFAULT_LIMITS } from '../../../src/resolver/state/limits.ts';
import { ResolverState } from '../../../src/resolver/state/resolver-state.ts';
import { Work } from '../../../src/resolver/state/work.ts';
import { askResolver, nextResolver } from '../../../src/resolver/walk/ask-resolver.ts';
import { name, reply, ZoneExchange } from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

function messageOf(answer: string, parts: Partial<Message> = {}): Message {
  const answers = recordsOf(answer).map((record) => ({ ...record, class: CLASS.IN }));
  return reply({ ra: true, answers, ...parts });
}

function print(said: ResolverReply): string {
  if (said.kind === 'failed') return `failed: ${said.error}`;
  const aliases = said.aliases.map(
    (alias) => `${printName(alias.name)}>${printName(alias.target)} ${alias.ttl}; `,
  );
  if (said.kind !== 'answer') return `${aliases.join('')}${said.kind}`;
  return `${aliases.join('')}${printName(said.name)} ${said.ttl} ${said.rdata.map((each) => each.join('.')).join(' ')}`;
}

/** Asked for the A of www.example.com. */
const read = (answer: string, parts?: Partial<Message>) =>
  print(classifyResolverReply(messageOf(answer, parts), { name: name('www.example.com'), type: TYPE.A }));

describe('the reply of a resolver', () => {
  const cases: [string, string, Partial<Message>, string][] = [
    [
      'gives what the name has, in whatever case',
      'WWW.example.com. 30 A 1.2.3.4\nwww.example.com. 30 A 1.2.3.5',
      {},
      'www.example.com. 30 1.2.3.4 1.2.3.5',
    ],
    [
      'gives what its aliases lead to, in whatever order they stand',
      'b.net. 9 A 1.2.3.4\na.net. 7 CNAME B.net.\nwww.example.com. 60 CNAME a.net.',
      {},
      'www.example.com.>a.net. 60; a.net.>b.net. 7; b.net. 9 1.2.3.4',
    ],
    [
      'gives nothing that its aliases do not lead to',
      'www.example.com. 60 CNAME a.net.\nc.net. 9 A 1.2.3.4',
      {},
      'www.example.com.>a.net. 60; nodata',
    ],
    ['says that the name has none', '', {}, 'nodata'],
    ['says that there is no such name', '', { rcode: RCODE.NXDOMAIN }, 'nxdomain'],
    [
      'says that the target does not exist (RFC 6604 §3)',
      'www.example.com. 60 CNAME a.net.',
      { rcode: RCODE.NXDOMAIN },
      'www.example.com.>a.net. 60; nxdomain',
    ],
    ['is useless with SERVFAIL', '', { rcode: RCODE.SERVFAIL }, 'failed: SERVFAIL'],
    ['is useless with REFUSED', '', { rcode: RCODE.REFUSED }, 'failed: REFUSED'],
    ['is useless where the server does not resolve', '', { ra: false }, 'failed: it does not resolve names'],
    [
      'counts from a server that has the zone itself',
      'www.example.com. 60 A 1.2.3.4',
      { ra: false, aa: true },
      'www.example.com. 60 1.2.3.4',
    ],
    [
      'is useless when it is cut short',
      'www.example.com. 60 A 1.2.3.4',
      { tc: true },
      'failed: the reply is cut short over TCP too',
    ],
    [
      'is useless with aliases that lead to themselves',
      'www.example.com. 60 CNAME a.net.\na.net. 60 CNAME www.example.com.',
      {},
      'failed: www.example.com. is an alias that leads to itself',
    ],
    [
      'is useless with two aliases at one name',
      'www.example.com. 60 CNAME a.net.\nwww.example.com. 60 CNAME b.net.',
      {},
      'failed: www.example.com. is an alias of several names',
    ],
    [
      'is useless with an answer for a name that does not exist',
      'www.example.com. 60 A 1.2.3.4',
      { rcode: RCODE.NXDOMAIN },
      'failed: an answer with NXDOMAIN',
    ],
  ];
  it.each(cases)('%s', (_, answer, parts, expected) => {
    expect(read(answer, parts)).toBe(expected);
  });

  it('is of the type that was asked, also where that is CNAME', () => {
    const message = messageOf('www.example.com. 60 CNAME a.net.\na.net. 60 A 1.2.3.4');
    expect(classifyResolverReply(message, { name: name('www.example.com'), type: TYPE.CNAME })).toMatchObject(
      {
        kind: 'answer',
        name: name('www.example.com'),
        aliases: [],
      },
    );
  });
});

const RESOLVERS = ['9.9.9.9', '8.8.8.8#5353'];

function stateWith(ask: (address: string) => QueryResult | 'hangs') {
  const taken: string[] = [];
  const exchange = {
    async ask(
      address: string,
      _question: unknown,
      { signal, onPacket }: { signal: AbortSignal; onPacket: () => void },
    ) {
      onPacket();
      const exchanged = ask(address);
      if (exchanged !== 'hangs') return exchanged;
      return new Promise<never>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    },
    async close() {},
  };
  const state = new ResolverState({
    findAddresses: () => Promise.reject(new Error('nobody looks up a server here')),
    exchange: new ZoneExchange(),
    rootServers: [],
    allowed: [],
    rates: { take: async () => {} },
    hasIpv6: () => false,
    publicResolvers: {
      exchange,
      addresses: RESOLVERS,
      rates: {
        take: async (address) => {
          taken.push(address);
        },
      },
    },
    now: Date.now,
    random: Math.random,
    limits: DEFAULT_LIMITS,
    cacheEntries: 10,
  });
  return { state, taken };
}

const QUESTION = { name: name('www.example.com'), type: TYPE.A };

async function withWork<T>(perform: (work: Work) => Promise<T>, signal?: AbortSignal): Promise<T> {
  const work = new Work({ ...DEFAULT_LIMITS, packets: 2 }, signal);
  try {
    return await perform(work);
  } finally {
    work.end();
  }
}

describe('a question to a resolver', () => {
  it('waits for its turn there, and its packets count', async () => {
    const message = messageOf('www.example.com. 60 A 1.2.3.4');
    const { state, taken } = stateWith(() => ({ kind: 'reply', message, transport: 'udp', rttMs: 1 }));
    await withWork(async (work) => {
      expect(print(await askResolver(state, work, '8.8.8.8#5353', QUESTION))).toBe(
        'www.example.com. 60 1.2.3.4',
      );
      expect(taken).toEqual(['8.8.8.8#5353']);
      expect(work.packets).toBe(1);
      expect(state.packets).toEqual({ sent: 1, replies: 1, timeouts: 0, bad: 0, barred: 0 });
    });
  });

  it('may bring nothing', async () => {
    const { state } = stateWith((address) =>
      address === '9.9.9.9' ? { kind: 'timeout' } : { kind: 'bad', error: 'refused by the kernel' },
    );
    await withWork(async (work) => {
      expect(print(await askResolver(state, work, '9.9.9.9', QUESTION))).toBe('failed: no reply');
      expect(print(await askResolver(state, work, '8.8.8.8#5353', QUESTION))).toBe(
        'failed: refused by the kernel',
      );
      expect(state.packets).toEqual({ sent: 2, replies: 0, timeouts: 1, bad: 1, barred: 0 });
      await expect(askResolver(state, work, '9.9.9.9', QUESTION)).rejects.toThrow('more than 2 packets');
    });
  });

  it('ends with the work that it is for', async () => {
    const { state } = stateWith(() => 'hangs');
    const controller = new AbortController();
    await withWork(async (work) => {
      const asked = askResolver(state, work, '9.9.9.9', QUESTION);
      setImmediate(() => controller.abort());
      await expect(asked).rejects.toMatchObject({ name: 'Stopped', by: 'aborted' });
    }, controller.signal);
  });

  it('goes to each in turn', () => {
    const { state } = stateWith(() => 'hangs');
    expect([1, 2, 3].map(() => nextResolver(state))).toEqual(['9.9.9.9', '8.8.8.8#5353', '9.9.9.9']);
  });
});
