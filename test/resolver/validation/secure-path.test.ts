import { describe, expect, it } from 'vitest';
import type { Message } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type Alter, SignedExchange } from '../../support/dnssec/signed-exchange.ts';
import { SignedZone, type ZoneSettings } from '../../support/dnssec/signed-zone.ts';
import { dsOf, makeKey, type SigningKey } from '../../support/dnssec/signing.ts';
import { COM_A, COM_B, ROOT_A, ROOT_B, testResolver } from '../../support/world/test-resolver.ts';
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
}

function made(options: Made = {}) {
  const { comDs = [dsOf(name('com'), COM_KEY)], comKeys = [COM_KEY], denial = NSEC } = options;
  const { anchors = [dsOf(name('.'), ROOT_KEY)], isUnsigned = false } = options;
  const zoneOf = (settings: Pick<ZoneSettings, 'apex' | 'text' | 'ds' | 'keys'> & Partial<ZoneSettings>) =>
    new SignedZone({ time: TIME, denial: NSEC, ...settings });
  const root = zoneOf({
    apex: name('.'),
    text: `@ NS a.root.\n@ NS b.root.\ncom NS a.gtld.\ncom NS b.gtld.\na.gtld A ${COM_A}\nb.gtld A ${COM_B}`,
    ds: new Map([[name('com'), comDs]]),
    keys: { entry: [ROOT_KEY], others: [] },
  });
  const signed = new Map([[name('signed.com'), [dsOf(name('signed.com'), OTHER_KEY)]]]);
  const keys = { entry: comKeys, others: [] };
  const com = zoneOf({ apex: name('com'), text: COM_TEXT, ds: signed, keys, denial, isUnsigned });
  const exchange = new SignedExchange()
    .serve(ROOT_A, root)
    .serve(ROOT_B, root)
    .serve(COM_A, com)
    .serve(COM_B, com);
  const faults: string[] = [];
  const { resolver, clock } = testResolver(exchange, {
    trustAnchors: () => anchors,
    onRootFault: (message) => faults.push(message),
  });
  const observe = async (domain: string) => {
    const before = exchange.asked.length;
    const evidence = await resolver.observeDelegation(name(domain));
    return { ...evidence, asked: exchange.asked.slice(before).map((text) => text.split(' ')[0]) };
  };
  const lie = (alter: Alter, ...addresses: string[]) => addresses.map((each) => exchange.alter(each, alter));
  return { observe, exchange, resolver, clock, faults, lie };
}

const without =
  (type: number, ...asked: number[]): Alter =>
  (message: Message, question) => {
    if (asked.length > 0 && !asked.includes(question.type)) return message;
    const kept = (records: Message['answers']) => records.filter((record) => record.type !== type);
    return { ...message, answers: kept(message.answers), authorities: kept(message.authorities) };
  };

const outcomes = ({ servers }: { servers: readonly { outcome: string; proof?: string }[] }) =>
  servers.map(({ outcome, proof }) => (proof === undefined ? outcome : `${outcome} ${proof}`));

describe('the walk to a secure parent', () => {
  it('validates the chain, the DS set, and negative answers', async () => {
    const { observe } = made();
    const said = { shop: 'referral', signed: 'referral', other: 'nodata', none: 'nxdomain' };
    for (const [label, outcome] of Object.entries(said)) {
      const evidence = await observe(`${label}.com`);
      expect(evidence).toMatchObject({ security: 'secure', failure: undefined });
      expect(outcomes(evidence)).toEqual(Array(2).fill(`${outcome} secure`));
    }
  });

  it('queries the keys of each zone and its DS set once, and then nothing more', async () => {
    const { observe } = made();
    const first = await observe('shop.com');
    expect(first.asked).toEqual(['NS', 'DNSKEY', 'DS', 'DNSKEY', 'NS', 'NS']);
    expect((await observe('none.com')).queries).toBe(2);
  });

  it('queries again when the TTL has expired, and after a day at the latest', async () => {
    const { observe, clock } = made();
    await observe('shop.com');
    clock.now += 3_601_000;
    expect((await observe('shop.com')).asked.filter((asked) => asked === 'DNSKEY')).toHaveLength(2);
  });

  it('is done once for concurrent checks', async () => {
    const { observe, exchange } = made();
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => observe(`d${i}.com`)));
    expect(all.every(({ security }) => security === 'secure')).toBe(true);
    expect(exchange.asked.filter((asked) => asked.startsWith('DNSKEY'))).toHaveLength(2);
    expect(exchange.asked.filter((asked) => asked.startsWith('DS'))).toHaveLength(1);
  });

  it('rejects replies without proof, and queries other servers', async () => {
    const { observe, lie } = made();
    lie(without(TYPE.NSEC), COM_A);
    const evidence = await observe('none.com');
    expect(outcomes(evidence)).toEqual(expect.arrayContaining(['bogus', 'nxdomain secure']));
    lie(without(TYPE.NSEC), COM_B);
    expect(outcomes(await observe('gone.com'))).toEqual(['bogus', 'bogus']);
  });

  it('notices that a DS set was removed in transit', async () => {
    const { observe, lie } = made();
    lie(without(TYPE.DS, TYPE.NS), COM_A, COM_B);
    expect(outcomes(await observe('signed.com'))).toEqual(['bogus', 'bogus']);
  });

  const unknown = [dsOf(name('com'), makeKey(16)), dsOf(name('com'), COM_KEY, 3)];
  const anchors = [dsOf(name('.'), OTHER_KEY), dsOf(name('.'), ROOT_KEY)];
  it.each<[string, Made, string, string, string]>([
    ['secure with any one of the anchors', { anchors }, 'shop.com', 'secure', 'referral secure'],
    [
      'secure, but not for an answer under opt-out',
      { denial: OPT_OUT },
      'shop.com',
      'secure',
      'referral insecure',
    ],
    ['insecure if there is no DS set', { comDs: [], isUnsigned: true }, 'none.com', 'insecure', 'nxdomain'],
    ['insecure if all algorithms are unknown', { comDs: unknown }, 'shop.com', 'insecure', 'referral'],
  ])('is %s', async (_, options, domain, security, outcome) => {
    const evidence = await made(options).observe(domain);
    expect(evidence.security).toBe(security);
    expect(outcomes(evidence)).toEqual([outcome, outcome]);
  });
});

describe('the walk to an insecure parent', () => {
  it.each<[string, Made, string, Alter?]>([
    ['the DS set is for another key', { comDs: [dsOf(name('com'), OTHER_KEY)] }, 'com'],
    ['the zone is not signed at all', { isUnsigned: true }, 'com'],
    ['the key that signs is not in the DS set', { comKeys: [OTHER_KEY] }, 'com'],
    ['nothing proves that there is no DS set', { comDs: [], isUnsigned: true }, '.', without(TYPE.NSEC)],
  ])('is bogus if %s', async (_, options, zone, alter) => {
    const { observe, lie } = made(options);
    if (alter !== undefined) lie(alter, ROOT_A, ROOT_B);
    const evidence = await observe('shop.com');
    expect(evidence.failure).toMatchObject({ zone: name(zone), reason: 'bogus' });
    expect(evidence.servers).toEqual([]);
  });

  it("accepts another server's reply if one is bogus", async () => {
    const { observe, lie } = made();
    lie(without(TYPE.RRSIG, TYPE.DNSKEY, TYPE.DS), ROOT_A, COM_A);
    expect((await observe('shop.com')).security).toBe('secure');
  });

  it('caches a bogus result only briefly', async () => {
    const { observe, lie, clock, exchange } = made();
    lie(without(TYPE.RRSIG, TYPE.DNSKEY), COM_A, COM_B);
    expect((await observe('shop.com')).failure?.reason).toBe('bogus');
    const { asked } = await observe('shop.com');
    expect(asked).toEqual([]);
    for (const address of [COM_A, COM_B]) exchange.alter(address, (message) => message);
    clock.now += 1000;
    expect((await observe('shop.com')).security).toBe('secure');
  });

  it('fails if no server returns the keys', async () => {
    const { observe, lie } = made();
    lie((message, { type }) => (type === TYPE.DNSKEY ? undefined : message), COM_A, COM_B);
    expect((await observe('shop.com')).failure).toMatchObject({ zone: name('com'), reason: 'unreachable' });
  });
});

describe('the root', () => {
  it('is assumed to be our fault if it does not validate: the check continues without validation, and reports this', async () => {
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

  it('is trusted again when its keys match', async () => {
    const { observe, lie, resolver, clock } = made();
    lie(without(TYPE.RRSIG, TYPE.DNSKEY), ROOT_A, ROOT_B);
    expect(await observe('shop.com')).toMatchObject({ rootFault: true });
    lie((message) => message, ROOT_A, ROOT_B);
    clock.now += 60_000;
    expect((await observe('shop.com')).security).toBe('secure');
    expect(resolver.hasRootFault()).toBe(false);
  });

  it('is not validated without anchors, without cost and findings', async () => {
    const { observe, faults, resolver } = made({ anchors: [] });
    const evidence = await observe('shop.com');
    expect(evidence.security).toBe('indeterminate');
    expect(evidence).not.toHaveProperty('rootFault');
    expect(evidence.asked.filter((asked) => asked !== 'NS')).toEqual([]);
    expect([faults, resolver.hasRootFault()]).toEqual([[], false]);
  });
});

describe('the keys of the root', () => {
  it('are returned with their validation by the anchors', async () => {
    const { resolver } = made();
    expect(await resolver.observeRootKeys()).toEqual({ present: [ROOT_KEY.rdata], revoked: [] });
    const { resolver: wrong } = made({ anchors: [dsOf(name('.'), OTHER_KEY)] });
    expect(await wrong.observeRootKeys()).toEqual({ present: undefined, revoked: [] });
  });

  it('are not returned if no server has them', async () => {
    const { resolver, lie } = made();
    lie(without(TYPE.DNSKEY), ROOT_A, ROOT_B);
    expect(await resolver.observeRootKeys()).toBeUndefined();
  });
});
