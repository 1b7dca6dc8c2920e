import { afterEach, describe, expect, it } from 'vitest';
import type { Message } from '../../../src/dns/message/message.ts';
import { RCODE } from '../../../src/dns/message/rcodes.ts';
import { printName } from '../../../src/dns/name.ts';
import { CLASS, TYPE } from '../../../src/dns/type-codes.ts';
import {
  classifyResolverReply,
  type ResolverReply,
} from '../../../src/resolver/replies/classify-resolver-reply.ts';
import { DEFAULT_LIMITS } from '../../../src/resolver/state/limits.ts';
import { ResolverState } from '../../../src/resolver/state/resolver-state.ts';
import { Work } from '../../../src/resolver/state/work.ts';
import { askResolver, nextResolver } from '../../../src/resolver/walk/ask-resolver.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { type Conduct, name, reply, ZoneExchange } from '../../support/world/zone-exchange.ts';
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

const QUESTION = { name: name('www.example.com'), type: TYPE.A };

/** What the reply does | its records | RCODE and flags | how it is classified. */
describe('the reply of a resolver', () => {
  it.each(
    rowsOf(`
gives the records of the name, in any case | WWW.example.com. 30 A 1.2.3.4 / www.example.com. 30 A 1.2.3.5 | RA | www.example.com. 30 1.2.3.4 1.2.3.5
gives the records that its aliases lead to, in any order | b.net. 9 A 1.2.3.4 / a.net. 7 CNAME B.net. / www.example.com. 60 CNAME a.net. | RA | www.example.com.>a.net. 60; a.net.>b.net. 7; b.net. 9 1.2.3.4
gives nothing that its aliases do not lead to | www.example.com. 60 CNAME a.net. / c.net. 9 A 1.2.3.4 | RA | www.example.com.>a.net. 60; nodata
has no data | | RA | nodata
denies the name | | RA NXDOMAIN | nxdomain
denies the target (RFC 6604 §3) | www.example.com. 60 CNAME a.net. | RA NXDOMAIN | www.example.com.>a.net. 60; nxdomain
fails with SERVFAIL | | RA SERVFAIL | failed: SERVFAIL
fails with REFUSED | | RA REFUSED | failed: REFUSED
fails if the server does not resolve | | | failed: it does not resolve names
counts from a server that has the zone | www.example.com. 60 A 1.2.3.4 | AA | www.example.com. 60 1.2.3.4
fails if it is cut short | www.example.com. 60 A 1.2.3.4 | RA TC | failed: the reply is cut short over TCP too
fails if its aliases are a loop | www.example.com. 60 CNAME a.net. / a.net. 60 CNAME www.example.com. | RA | failed: www.example.com. is an alias that leads to itself
fails with two aliases at one name | www.example.com. 60 CNAME a.net. / www.example.com. 60 CNAME b.net. | RA | failed: www.example.com. is an alias of several names
fails with an answer for a name that does not exist | www.example.com. 60 A 1.2.3.4 | RA NXDOMAIN | failed: an answer with NXDOMAIN`),
  )('%s', (_, records, flags = '', expected) => {
    const words = flags.split(' ');
    const rcode = words.find((word) => word in RCODE) as keyof typeof RCODE | undefined;
    const message = messageOf(itemsOf(records).join('\n'), {
      ...{ aa: words.includes('AA'), ra: words.includes('RA'), tc: words.includes('TC') },
      rcode: RCODE[rcode ?? 'NOERROR'],
    });
    expect(print(classifyResolverReply(message, QUESTION))).toBe(expected);
  });

  it('is of the type that was asked, also where that is CNAME', () => {
    const message = messageOf('www.example.com. 60 CNAME a.net.\na.net. 60 A 1.2.3.4');
    const expected = { kind: 'answer', name: QUESTION.name, aliases: [] };
    expect(classifyResolverReply(message, { ...QUESTION, type: TYPE.CNAME })).toMatchObject(expected);
  });
});

const RESOLVERS = ['9.9.9.9', '8.8.8.8#5353'];

/** What a state needs besides the public resolvers. */
const OTHERWISE: ConstructorParameters<typeof ResolverState>[0] = {
  findAddresses: () => Promise.reject(new Error('nobody looks up a server here')),
  exchange: new ZoneExchange(),
  ...{ rootServers: [], allowed: [], rates: { take: async () => {} }, hasIpv6: () => false },
  ...{ now: Date.now, random: Math.random, limits: DEFAULT_LIMITS, cacheEntries: 10 },
};

function start(conduct: ReturnType<Conduct>, signal?: AbortSignal) {
  const taken: string[] = [];
  const exchange = new ZoneExchange();
  for (const address of RESOLVERS) exchange.behave(address, () => conduct);
  const rates = { take: async (address: string) => void taken.push(address) };
  const publicResolvers = { exchange, addresses: RESOLVERS, rates };
  const state = new ResolverState({ ...OTHERWISE, publicResolvers });
  const work = new Work({ ...DEFAULT_LIMITS, packets: 2 }, signal);
  works.push(work);
  return { state, taken, work, ask: () => askResolver(state, work, '8.8.8.8#5353', QUESTION) };
}

const works: Work[] = [];
afterEach(() => {
  for (const work of works.splice(0)) work.end();
});

describe('a query to a resolver', () => {
  it.each<[string, ReturnType<Conduct>, string, object]>([
    [
      'a reply',
      messageOf('www.example.com. 60 A 1.2.3.4'),
      'www.example.com. 60 1.2.3.4',
      { sent: 1, replies: 1 },
    ],
    ['silence', 'silent', 'failed: no reply', { sent: 2, timeouts: 1 }],
    ['an error', 'bad', 'failed: refused by the kernel', { sent: 1, bad: 1 }],
  ])('waits for its slot there, and counts packets, with %s', async (_, conduct, expected, packets) => {
    const { state, taken, work, ask } = start(conduct);
    expect(print(await ask())).toBe(expected);
    expect(taken).toEqual(['8.8.8.8#5353']);
    expect(state.packets).toEqual({ sent: 0, replies: 0, timeouts: 0, bad: 0, barred: 0, ...packets });
    expect(work.packets).toBe(state.packets.sent);
  });

  it('ends with its work, and with the packets of that', async () => {
    const controller = new AbortController();
    const asked = start('hangs', controller.signal).ask();
    setImmediate(() => controller.abort());
    await expect(asked).rejects.toMatchObject({ name: 'Stopped', by: 'aborted' });
    const { ask } = start('bad');
    for (const _ of [1, 2]) await ask();
    await expect(ask()).rejects.toThrow('more than 2 packets');
  });

  it('goes to each in turn', () => {
    const { state } = start('hangs');
    expect([1, 2, 3].map(() => nextResolver(state))).toEqual(['9.9.9.9', '8.8.8.8#5353', '9.9.9.9']);
  });
});
