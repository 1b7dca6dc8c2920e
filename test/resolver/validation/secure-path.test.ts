import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { createResolver } from '../../../src/resolver/resolver.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type Alter, SignedExchange } from '../../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../../support/dnssec/signed-zone.ts';
import { dsOf, makeKey, type SigningKey } from '../../support/dnssec/signing.ts';
import { COM_A, COM_B, dice, ROOT_A, ROOT_B } from '../../support/world/test-resolver.ts';
import { name } from '../../support/world/zone-exchange.ts';

const NOW = 1_700_000_000;
const TIME = { inception: NOW - 100_000, expiration: NOW + 10_000_000 };
const ROOT_KEY = makeKey(8);
const COM_KEY = makeKey(13);
const OTHER_KEY = makeKey(13);
const NSEC: DenialStyle = { kind: 'nsec' };
const OPT_OUT: DenialStyle = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: true };

const COM_TEXT = `@ NS a.gtld.
@ NS b.gtld.
shop NS ns1.a.
shop NS ns2.a.
signed NS ns1.a.
signed NS ns2.a.
other A 192.0.2.1
`;

interface Made {
  readonly comDs?: readonly Uint8Array[];
  readonly comKeys?: readonly SigningKey[];
  readonly denial?: DenialStyle;
  readonly isUnsigned?: boolean;
  readonly anchors?: readonly Uint8Array[];
  readonly idle?: readonly Uint8Array[];
}

function made(options: Made = {}) {
  const { comDs = [dsOf(name('com'), COM_KEY)], comKeys = [COM_KEY], denial = NSEC } = options;
  const { anchors = [dsOf(name('.'), ROOT_KEY)], isUnsigned = false, idle = [] } = options;
  const root = new SignedZone({
    apex: name('.'),
    text: `@ NS a.root.\n@ NS b.root.\ncom NS a.gtld.\ncom NS b.gtld.\na.gtld A ${COM_A}\nb.gtld A ${COM_B}`,
    ds: new Map([[name('com'), comDs]]),
    keys: { entry: [ROOT_KEY], others: [] },
    time: TIME,
    denial: NSEC,
  });
  const com = new SignedZone({
    apex: name('com'),
    text: COM_TEXT,
    ds: new Map([[name('signed.com'), [dsOf(name('signed.com'), OTHER_KEY)]]]),
    keys: { entry: comKeys, others: [], idle },
    time: TIME,
    denial,
    isUnsigned,
  });
  const exchange = new SignedExchange()
    .serve(ROOT_A, root)
    .serve(ROOT_B, root)
    .serve(COM_A, com)
    .serve(COM_B, com);
  const clock = { now: NOW * 1000 };
  const faults: string[] = [];
  const resolver = createResolver({
    exchange,
    rootServers: [
      { name: name('a.root'), addresses: [ROOT_A] },
      { name: name('b.root'), addresses: [ROOT_B] },
    ],
    allowed: [],
    rates: { take: async () => {} },
    hasIpv6: () => false,
    now: () => clock.now,
    random: dice(1),
    trustAnchors: () => anchors,
    onRootFault: (message) => faults.push(message),
  });
  const observe = async (domain: string) => {
    const before = exchange.asked.length;
    const evidence = await resolver.observeDelegation(name(domain));
    return { ...evidence, asked: exchange.asked.slice(before) };
  };
  const lie = (alter: Alter, ...addresses: string[]) => addresses.map((each) => exchange.alter(each, alter));
  return { observe, exchange, resolver, clock, faults, lie };
}

const without =
  (type: number, ...asked: number[]): Alter =>
  (message: Message, question) =>
    asked.length > 0 && !asked.includes(question.type)
      ? message
      : {
          ...message,
          answers: message.answers.filter((record) => record.type !== type),
          authorities: message.authorities.filter((record) => record.type !== type),
        };

const outcomes = ({ servers }: { servers: readonly { outcome: string; proof?: string }[] }) =>
  servers.map(({ outcome, proof }) => (proof === undefined ? outcome : `${outcome} ${proof}`));

describe('the walk to a secure parent', () => {
  it('validates the chain, the DS set, and what is not there', async () => {
    const { observe } = made();
    for (const [domain, said] of [
      ['shop.com', 'referral secure'],
      ['signed.com', 'referral secure'],
      ['other.com', 'nodata secure'],
      ['none.com', 'nxdomain secure'],
    ] as const) {
      const evidence = await observe(domain);
      expect(evidence).toMatchObject({ security: 'secure', failure: undefined });
      expect(outcomes(evidence)).toEqual([said, said]);
    }
  });

  it('asks once for the keys of each zone and its DS set, and then for nothing more', async () => {
    const { observe } = made();
    const first = await observe('shop.com');
    expect(first.asked.map((asked) => asked.split(' ')[0])).toEqual([
      'NS',
      'DNSKEY',
      'DS',
      'DNSKEY',
      'NS',
      'NS',
    ]);
    expect((await observe('none.com')).queries).toBe(2);
  });

  it('asks again when the TTL is over, and no later than after a day', async () => {
    const { observe, clock } = made();
    await observe('shop.com');
    clock.now += 3_601_000;
    expect((await observe('shop.com')).asked.filter((asked) => asked.startsWith('DNSKEY'))).toHaveLength(2);
  });

  it('is done once for checks that run at the same time', async () => {
    const { observe, exchange } = made();
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => observe(`d${i}.com`)));
    expect(all.every(({ security }) => security === 'secure')).toBe(true);
    expect(exchange.asked.filter((asked) => asked.startsWith('DNSKEY'))).toHaveLength(2);
    expect(exchange.asked.filter((asked) => asked.startsWith('DS'))).toHaveLength(1);
  });

  it('takes no reply for true that has no proof, and asks others', async () => {
    const { observe, lie } = made();
    lie(without(TYPE.NSEC), COM_A);
    const evidence = await observe('none.com');
    expect(outcomes(evidence)).toEqual(expect.arrayContaining(['bogus', 'nxdomain secure']));
    lie(without(TYPE.NSEC), COM_B);
    expect(outcomes(await observe('gone.com'))).toEqual(['bogus', 'bogus']);
  });

  it('sees that a DS set was taken away on the way', async () => {
    const { observe, lie } = made();
    lie(without(TYPE.DS, TYPE.NS), COM_A, COM_B);
    expect(outcomes(await observe('signed.com'))).toEqual(['bogus', 'bogus']);
  });

  it('lets the plain answer count under opt-out', async () => {
    const evidence = await made({ denial: OPT_OUT }).observe('shop.com');
    expect(evidence.security).toBe('secure');
    expect(outcomes(evidence)).toEqual(['referral insecure', 'referral insecure']);
  });
});

describe('the walk to a parent that is not secure', () => {
  it('is insecure where the zone above proves that there is no DS set', async () => {
    const evidence = await made({ comDs: [], isUnsigned: true }).observe('none.com');
    expect(evidence.security).toBe('insecure');
    expect(outcomes(evidence)).toEqual(['nxdomain', 'nxdomain']);
  });

  it('is insecure where every algorithm or digest is unknown', async () => {
    const unknown = [dsOf(name('com'), makeKey(16)), dsOf(name('com'), COM_KEY, 3)];
    expect((await made({ comDs: unknown }).observe('shop.com')).security).toBe('insecure');
  });

  it.each<[string, Made]>([
    ['the DS set is of another key', { comDs: [dsOf(name('com'), OTHER_KEY)] }],
    ['the zone is not signed at all', { isUnsigned: true }],
    ['the key that signs is not in the DS set', { comKeys: [OTHER_KEY] }],
  ])('is bogus when %s', async (_, options) => {
    const evidence = await made(options).observe('shop.com');
    expect(evidence).toMatchObject({ parent: name('com'), failure: { zone: name('com'), reason: 'bogus' } });
    expect(evidence.servers).toEqual([]);
  });

  it('is bogus when the proof that there is no DS set is missing', async () => {
    const { observe, lie } = made({ comDs: [], isUnsigned: true });
    lie(without(TYPE.NSEC), ROOT_A, ROOT_B);
    expect((await observe('shop.com')).failure).toMatchObject({ zone: name('.'), reason: 'bogus' });
  });

  it('takes the word of another server when one is bogus', async () => {
    const { observe, lie } = made();
    lie(without(TYPE.RRSIG, TYPE.DNSKEY, TYPE.DS), ROOT_A, COM_A);
    expect((await observe('shop.com')).security).toBe('secure');
  });

  it('remembers what is bogus only for a while', async () => {
    const { observe, lie, clock, exchange } = made();
    lie(without(TYPE.RRSIG, TYPE.DNSKEY), COM_A, COM_B);
    expect((await observe('shop.com')).failure?.reason).toBe('bogus');
    const { asked } = await observe('shop.com');
    expect(asked).toEqual([]);
    for (const address of [COM_A, COM_B]) exchange.alter(address, (message) => message);
    clock.now += 1000;
    expect((await observe('shop.com')).security).toBe('secure');
  });

  it('is a failure to reach it when nobody gives the keys', async () => {
    const { observe, lie } = made();
    lie((message, { type }) => (type === TYPE.DNSKEY ? undefined : message), COM_A, COM_B);
    expect((await observe('shop.com')).failure).toMatchObject({ zone: name('com'), reason: 'unreachable' });
  });

  it('ends when more would have to be verified than a check may (KeyTrap, CVE-2023-50387)', async () => {
    const idle = [COM_KEY, ...twinsOf(COM_KEY, 30)].map(({ rdata }) => rdata);
    const { observe } = made({
      idle,
      comDs: twinsOf(COM_KEY, 1)
        .map((key) => dsOf(name('com'), key, 2))
        .map(spoil),
    });
    expect((await observe('shop.com')).failure).toMatchObject({
      zone: name('com'),
      reason: 'validation_limit',
    });
  });
});

describe('the root', () => {
  it('that does not validate is our fault: the check goes on without, and says so', async () => {
    const { observe, faults, resolver, clock } = made({ anchors: [dsOf(name('.'), OTHER_KEY)] });
    const evidence = await observe('shop.com');
    expect(evidence).toMatchObject({ security: 'indeterminate', rootFault: true, failure: undefined });
    expect(outcomes(evidence)).toEqual(['referral', 'referral']);
    expect(resolver.hasRootFault()).toBe(true);
    await observe('other.com');
    expect(faults).toHaveLength(1);
    clock.now += 60_000;
    await observe('other.com');
    expect(faults).toHaveLength(2);
  });

  it('is trusted again when its keys fit', async () => {
    const { observe, lie, resolver, clock } = made();
    lie(without(TYPE.RRSIG, TYPE.DNSKEY), ROOT_A, ROOT_B);
    expect(await observe('shop.com')).toMatchObject({ rootFault: true });
    lie((message) => message, ROOT_A, ROOT_B);
    clock.now += 60_000;
    expect((await observe('shop.com')).security).toBe('secure');
    expect(resolver.hasRootFault()).toBe(false);
  });

  it('is not validated without anchors, and that costs and says nothing', async () => {
    const { observe, faults, resolver } = made({ anchors: [] });
    const evidence = await observe('shop.com');
    expect(evidence.security).toBe('indeterminate');
    expect(evidence).not.toHaveProperty('rootFault');
    expect(evidence.asked.filter((asked) => /^(DS|DNSKEY)/.test(asked))).toEqual([]);
    expect([faults, resolver.hasRootFault()]).toEqual([[], false]);
  });

  it('validates with any one of its anchors', async () => {
    const anchors = [dsOf(name('.'), OTHER_KEY), dsOf(name('.'), ROOT_KEY)];
    expect((await made({ anchors }).observe('com')).security).toBe('secure');
  });
});

/** Other keys with the same tag: octets that the sum of the tag adds alike change places (RFC 4034 B). */
function twinsOf(key: SigningKey, count: number): SigningKey[] {
  return Array.from({ length: count }, (_, i) => {
    const rdata = Uint8Array.from(key.rdata);
    const [a, b] = [4 + 2 * (i % 5), 14 + 2 * Math.floor(i / 5)];
    [rdata[a], rdata[b]] = [rdata[b] as number, rdata[a] as number];
    return { ...key, rdata };
  });
}

/** The digest of a DS record, spoilt: it fits no key. */
function spoil(ds: Uint8Array): Uint8Array {
  const spoilt = Uint8Array.from(ds);
  spoilt[10] = (spoilt[10] as number) ^ 1;
  return spoilt;
}

describe('the keys of the root', () => {
  it('are seen with what the anchors say of them', async () => {
    const { resolver } = made();
    expect(await resolver.observeRootKeys()).toEqual({ present: [ROOT_KEY.rdata], revoked: [] });
    const { resolver: wrong } = made({ anchors: [dsOf(name('.'), OTHER_KEY)] });
    expect(await wrong.observeRootKeys()).toEqual({ present: undefined, revoked: [] });
  });

  it('are not seen when nobody gives them', async () => {
    const { resolver, lie } = made();
    lie(without(TYPE.DNSKEY), ROOT_A, ROOT_B);
    expect(await resolver.observeRootKeys()).toBeUndefined();
  });
});
