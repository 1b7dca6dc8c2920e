import { describe, expect, it } from 'vitest';
import type { DsEvidence } from '../../src/checks/dnssec/ds-evidence.ts';
import {
  judgePreflight,
  type PreflightEvidence,
  type PreflightKey,
} from '../../src/checks/dnssec/preflight.ts';
import type { Message } from '../../src/dns/message/message.ts';
import type { Name } from '../../src/dns/name.ts';
import { printRdata } from '../../src/dns/record/rdata.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import type { DenialStyle } from '../support/dnssec/denial-chain.ts';
import { type Alter, SignedExchange } from '../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../support/dnssec/signed-zone.ts';
import { dsOf, makeKey, type SigningKey } from '../support/dnssec/signing.ts';
import {
  COM_A,
  COM_B,
  comInternet,
  internet,
  ROOT_A,
  ROOT_B,
  testResolver,
} from '../support/world/test-resolver.ts';
import {
  answering,
  type Conduct,
  name,
  reply,
  type ZoneExchange,
  zone,
} from '../support/world/zone-exchange.ts';

describe('an observation of the DS set', () => {
  const DIGEST = 'A'.repeat(64);
  const DELEGATION = 'example NS ns.example\nns.example A 5.3.0.1';
  const SIGNED = `${DELEGATION}\nexample 300 DS 4711 13 2 ${DIGEST}\nexample 300 DS 17 13 2 ${DIGEST}`;

  async function observe(exchange: ZoneExchange, domain = 'example.com'): Promise<DsEvidence> {
    return await testResolver(exchange).resolver.observeDs(name(domain));
  }

  /** `5.3.0.1 positive 300 17 4711`: address, outcome, TTL, key tags. */
  function seen({ answers }: DsEvidence): string[] {
    return answers
      .map(({ address, outcome, ttl, ds }) => {
        const tags = ds.map((rdata) => printRdata(TYPE.DS, rdata).split(' ')[0]);
        return [address, outcome, ttl ?? '-', ...tags].join(' ');
      })
      .sort();
  }

  describe('the DS set at the parent', () => {
    it('is queried at every address, and returned with its TTL', async () => {
      const exchange = comInternet(SIGNED);
      const evidence = await observe(exchange);
      expect(seen(evidence)).toEqual(
        [`${COM_A} positive 300 17 4711`, `${COM_B} positive 300 17 4711`].sort(),
      );
      expect(evidence).toMatchObject({ parent: name('com'), parentIsSecure: undefined });
      expect(exchange.asked.filter((text) => text.endsWith('example.com. DS'))).toHaveLength(2);
    });

    const ds = `example.com. 300 DS 17 13 2 ${DIGEST}`;
    const all = `${COM_A} positive 300 17 4711`;
    const none = [`${COM_A} none 600`, `${COM_B} none 600`];
    const unsigned = zone('com.', `@ NS a.gtld.\n@ NS b.gtld.\n${DELEGATION}`);
    const repeating: Conduct = ({ type }) => (type === 'DS' ? answering(`${ds}\n${ds}`) : undefined);
    const voided = zone('com.', `@ NS a.gtld.\n@ NS c.void.\n${SIGNED}`);
    const halfKnown = () => internet(`com NS a.gtld.\ncom NS c.void.\na.gtld. A ${COM_A}`);

    it.each<[string, () => ZoneExchange, string[]]>([
      ['absent after NODATA with the SOA of the parent', () => comInternet(DELEGATION), none],
      ['absent if the name is not registered', () => comInternet('other A 1.2.3.4'), none],
      ['listed by address', () => comInternet(SIGNED).serve(COM_B, unsigned), [all, `${COM_B} none 600`]],
      [
        'listed once if a server repeats a record',
        () => comInternet(SIGNED).behave(COM_B, repeating),
        [all, `${COM_B} positive 300 17`],
      ],
      [
        'unknown for a nameserver without an address',
        () => halfKnown().serve(COM_A, voided),
        [' unknown -', all],
      ],
    ])('is %s', async (_, world, expected) => {
      expect(seen(await observe(world()))).toEqual(expected.sort());
    });

    it('is found at a new zone in between, after a referral to it', async () => {
      const own = zone('co.com.', `@ NS ns\nns A 5.9.0.1\n${SIGNED}`);
      const exchange = comInternet('co NS ns.co\nns.co A 5.9.0.1').serve('5.9.0.1', own);
      const evidence = await observe(exchange, 'example.co.com');
      expect(evidence.parent).toBe(name('co.com'));
      expect(seen(evidence)).toEqual(['5.9.0.1 positive 300 17 4711']);
    });
  });

  describe('a reply without information about a DS set', () => {
    const child = answering('example.com. 300 SOA ns.nic. admin.nic. 1 7200 900 1209600 600');
    const referral = answering('example.com. 300 NS ns.example.com.');
    it.each<[string, (honest: Message) => Message, string]>([
      ['a referral', () => reply({ authorities: referral.answers }), 'refers to the domain'],
      ['an answer without the AA bit', (honest) => ({ ...honest, aa: false }), 'the AA bit'],
      [
        'NODATA with the SOA of the domain itself',
        () => reply({ aa: true, authorities: child.answers }),
        'not that of the parent zone',
      ],
      ['SERVFAIL', () => reply({ rcode: 2 }), 'SERVFAIL'],
    ])('%s', async (_, make, words) => {
      const exchange = comInternet(SIGNED).behave(COM_B, ({ type, honest }) =>
        type === 'DS' ? make(honest()) : undefined,
      );
      const evidence = await observe(exchange);
      expect(seen(evidence)).toContain(`${COM_A} positive 300 17 4711`);
      const other = evidence.answers.find(({ address }) => address === COM_B);
      expect(other).toMatchObject({ outcome: 'unknown', ds: [], ttl: undefined });
      expect(other?.error).toContain(words);
    });

    it('a timeout', async () => {
      const exchange = comInternet(SIGNED).behave(COM_B, ({ type }) =>
        type === 'DS' ? 'silent' : undefined,
      );
      expect(seen(await observe(exchange))).toContain(`${COM_B} unknown -`);
    });

    it('a parent without any address', async () => {
      const evidence = await observe(internet('com NS ns.void.\nvoid NS ns.void.'));
      expect(seen(evidence)).toEqual([' unknown -']);
    });
  });

  describe('the limits', () => {
    it("no more than 120 packets are sent, regardless of the parent's number of addresses and their silence", async () => {
      const addresses = Array.from({ length: 128 }, (_, i) => `5.9.${i >> 3}.${(i & 7) + 1}`);
      const lines = (prefix: string) =>
        addresses.map((address, i) => `ns${i >> 3}${prefix} A ${address}`).join('\n');
      const ns = (owner: string, below: string) =>
        Array.from({ length: 16 }, (_, i) => `${owner} NS ns${i}${below}`).join('\n');
      const exchange = internet(`${ns('wide', '.wide.')}\n${lines('.wide.')}`);
      const wide = zone('wide.', `${ns('@', '')}\n${lines('')}`);
      for (const address of addresses)
        exchange.serve(address, wide).behave(address, ({ type }) => (type === 'DS' ? 'silent' : undefined));
      const evidence = await observe(exchange, 'example.wide');
      expect(exchange.packets).toBeLessThanOrEqual(120);
      expect(evidence.answers).toHaveLength(40);
      expect(evidence.answers.every(({ outcome }) => outcome === 'unknown')).toBe(true);
    });

    it('the root has no parent, and a signal ends the observation with its reason', async () => {
      const { resolver } = testResolver(comInternet(SIGNED));
      await expect(resolver.observeDs(name('.'))).rejects.toThrow('the root has no parent');
      await expect(
        resolver.observeDs(name('example.com'), { signal: AbortSignal.abort(new Error('enough')) }),
      ).rejects.toThrow('enough');
    });
  });

  describe('a signed parent', () => {
    const at = 1_700_000_000;
    const time = { inception: at - 100_000, expiration: at + 10_000_000 };
    const [rootKey, comKey, shopKey] = [makeKey(13), makeKey(13), makeKey(13)];
    const shopDs = dsOf(name('shop.com'), shopKey);
    const com = (ds: ReadonlyMap<Name, readonly Uint8Array[]>, denial: DenialStyle = { kind: 'nsec' }) =>
      new SignedZone({
        apex: name('com'),
        text: '@ NS a.gtld.\n@ NS b.gtld.\nshop NS ns.shop\nns.shop A 5.3.0.1',
        ds,
        keys: { entry: [comKey], others: [] },
        time,
        denial,
      });
    const observeSigned = async (zones: readonly [SignedZone, SignedZone], alter?: Alter) => {
      const root = new SignedZone({
        apex: name('.'),
        text: `@ NS a.root.\ncom NS a.gtld.\ncom NS b.gtld.\na.gtld A ${COM_A}\nb.gtld A ${COM_B}`,
        ds: new Map([[name('com'), [dsOf(name('com'), comKey)]]]),
        keys: { entry: [rootKey], others: [] },
        time,
        denial: { kind: 'nsec' },
      });
      const exchange = new SignedExchange()
        .serve(ROOT_A, root)
        .serve(ROOT_B, root)
        .serve(COM_A, zones[0])
        .serve(COM_B, zones[1]);
      if (alter !== undefined) exchange.alter(COM_B, alter);
      const { resolver } = testResolver(exchange, { trustAnchors: () => [dsOf(name('.'), rootKey)] });
      return await resolver.observeDs(name('shop.com'));
    };
    const with1 = new Map([[name('shop.com'), [shopDs]]]);
    const outcomes = ({ answers }: DsEvidence) =>
      Object.fromEntries(answers.map((each) => [each.address, each]));

    it('validates the DS set and its absence, by NSEC and NSEC3, also with opt-out', async () => {
      for (const optOut of [false, true]) {
        const nsec3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut } as const;
        const evidence = await observeSigned([com(with1), com(new Map(), nsec3)]);
        expect(evidence.parentIsSecure).toBe(true);
        expect(outcomes(evidence)).toMatchObject({
          [COM_A]: { outcome: 'positive', ds: [shopDs] },
          [COM_B]: { outcome: 'none' },
        });
      }
    });

    it('is not trusted without its signatures: neither for a DS set nor for its absence', async () => {
      const unsign: Alter = (message, { type }) =>
        type !== TYPE.DS
          ? message
          : {
              ...message,
              answers: message.answers.filter((record) => record.type !== TYPE.RRSIG),
              authorities: message.authorities.filter((record) => record.type === TYPE.SOA),
            };
      for (const ds of [with1, new Map()]) {
        const evidence = await observeSigned([com(with1), com(ds)], unsign);
        expect(outcomes(evidence)).toMatchObject({
          [COM_A]: { outcome: 'positive' },
          [COM_B]: { outcome: 'unknown', ds: [] },
        });
      }
    });
  });
});

describe('an observation of a signed domain', () => {
  const NOW = 1_700_000_000;
  const DAY = 86_400;
  const TIME = { inception: NOW - DAY, expiration: NOW + 10 * DAY };
  const DOMAIN = name('shop.test');
  const NS1 = '5.3.0.1';
  const NS2 = '5.4.0.1';
  const KEY = makeKey(13);
  const OTHER = makeKey(13);
  const OURS: PreflightKey = { id: 'ours', dnskey: KEY.rdata, isSep: true };
  const NEXT: PreflightKey = { id: 'next', dnskey: OTHER.rdata, isSep: true };
  const NSEC: DenialStyle = { kind: 'nsec' };
  const NSEC3: DenialStyle = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false };
  const DELEGATION = `shop.test NS ns1.shop.test\nshop.test NS ns2.shop.test\nns1.shop.test A ${NS1}\nns2.shop.test A ${NS2}`;
  const TEXT = `@ NS ns1\n@ NS ns2\nns1 A ${NS1}\nns2 A ${NS2}\nwww A 192.0.2.1`;

  interface Made {
    readonly text?: string;
    readonly denial?: DenialStyle;
    readonly isUnsigned?: boolean;
    readonly keys?: { readonly entry: readonly SigningKey[]; readonly others: readonly SigningKey[] };
    readonly time?: typeof TIME;
  }

  function shop({
    text = TEXT,
    denial = NSEC,
    isUnsigned = false,
    keys,
    time = TIME,
  }: Made = {}): SignedZone {
    const signing = keys ?? { entry: [KEY], others: [] };
    return new SignedZone({ apex: DOMAIN, text, keys: signing, time, denial, isUnsigned });
  }

  async function observe(
    [first, second]: readonly [SignedZone, (SignedZone | undefined)?],
    { alter, keys = [OURS] }: { alter?: Alter; keys?: readonly PreflightKey[] } = {},
  ): Promise<{ evidence: PreflightEvidence; asked: readonly string[] }> {
    const root = new SignedZone({
      apex: name('.'),
      text: `@ NS a.root.\n@ NS b.root.\n${DELEGATION}`,
      keys: { entry: [OTHER], others: [] },
      time: TIME,
      denial: NSEC,
    });
    const exchange = new SignedExchange()
      .serve(ROOT_A, root)
      .serve(ROOT_B, root)
      .serve(NS1, first)
      .serve(NS2, second ?? first);
    if (alter !== undefined) exchange.alter(NS2, alter);
    const { resolver } = testResolver(exchange);
    const evidence = await resolver.observeSigned(DOMAIN, { keys });
    return { evidence, asked: exchange.asked };
  }

  function outcomes({ servers }: PreflightEvidence): string[] {
    return servers
      .map(({ address, outcome, verifiedBy, error }) =>
        [address, outcome, ...verifiedBy, error ?? ''].join(' ').trim(),
      )
      .sort();
  }

  const VALID = [`${NS1} answered ours`, `${NS2} answered ours`];

  describe('a domain passes', () => {
    it.each([
      ['with NSEC', { denial: NSEC }],
      ['with NSEC3', { denial: NSEC3 }],
      ['with a wildcard that has the type', { text: `${TEXT}\n* A 192.0.2.2` }],
      ['with a wildcard that has another type', { text: `${TEXT}\n* TXT hello` }],
      ['with a wildcard alias, and NSEC3', { text: `${TEXT}\n* CNAME www`, denial: NSEC3 }],
      ['with a separate KSK and ZSK', { keys: { entry: [KEY], others: [OTHER] } }],
    ] satisfies readonly (readonly [string, Made])[])('%s', async (_, made) => {
      const { evidence } = await observe([shop(made)]);
      expect(outcomes(evidence)).toEqual(VALID);
      expect(judgePreflight(evidence).verifiedBy).toEqual(['ours']);
    });

    it('after queries for its keys, SOA, wildcard and a nonexistent name at every address', async () => {
      const { asked } = await observe([shop()]);
      const own = asked.map((text) => text.split(' ')).filter(([, at]) => at?.endsWith(DOMAIN));
      const counts = (type: string) => own.filter(([asking]) => asking === type).length;
      expect([counts('DNSKEY'), counts('SOA'), counts('A')]).toEqual([2, 2, 4]);
    });
  });

  describe('a domain fails', () => {
    it.each([
      ['if one address is not signed', { isUnsigned: true }, 'returns no DNSKEY records'],
      [
        'if one address has another key',
        { keys: { entry: [OTHER], others: [] } },
        'no key matches its DS records',
      ],
      [
        'if one address has old signatures',
        { time: { inception: NOW - 20 * DAY, expiration: NOW - 3 * DAY } },
        'expired',
      ],
    ] satisfies readonly (readonly [string, Made, string])[])('%s', async (_, made, words) => {
      const { evidence } = await observe([shop(), shop(made)]);
      expect(outcomes(evidence)).toEqual([`${NS1} answered ours`, expect.stringContaining(words)]);
      expect(judgePreflight(evidence)).toMatchObject({
        verifiedBy: [],
        failure: expect.stringContaining(NS2),
      });
    });

    const without = (type: number) => (message: Message) => ({
      ...message,
      authorities: message.authorities.filter((record) => record.type !== type),
    });

    it.each([
      ['if a denial is missing', without(TYPE.NSEC), 'no proof'],
      ['if the SOA of a denial is missing', without(TYPE.SOA), 'SOA'],
      ['if signatures are missing', without(TYPE.RRSIG), 'signature'],
      [
        'if its answer lacks the AA bit',
        (message: Message) => ({ ...message, aa: false }),
        'returns no DNSKEY records',
      ],
    ])('%s', async (_, change, words) => {
      const { evidence } = await observe([shop()], { alter: change });
      const [first, second] = outcomes(evidence);
      expect(first).toBe(`${NS1} answered ours`);
      expect(second).toMatch(new RegExp(`^${NS2} answered .*${words}`));
    });
  });

  const both = { entry: [KEY, OTHER], others: [OTHER] };
  it.each<[string, readonly [Made, Made?], readonly PreflightKey[], object]>([
    [
      'two keys is verified by both',
      [{ keys: both }],
      [OURS, NEXT],
      { verifiedBy: ['ours', 'next'], hasStrangers: false },
    ],
    [
      'two keys at one address is verified by one',
      [{ keys: both }, {}],
      [OURS, NEXT],
      { verifiedBy: ['ours'] },
    ],
    [
      'different keys at its addresses fails',
      [{}, { keys: { entry: [OTHER], others: [] } }],
      [OURS, NEXT],
      { verifiedBy: [], failure: expect.stringContaining('different keys') },
    ],
    [
      'an unknown key is verified',
      [{ keys: { entry: [KEY], others: [OTHER] } }],
      [OURS],
      { verifiedBy: ['ours'], hasStrangers: true },
    ],
    ['a key that may have no DS record fails', [{}], [{ ...OURS, isSep: false }], { verifiedBy: [] }],
  ])('a domain with %s', async (_, [first, second], keys, expected) => {
    const { evidence } = await observe([shop(first), second && shop(second)], { keys });
    expect(judgePreflight(evidence)).toMatchObject(expected);
  });

  it('nothing is concluded while an address does not answer every query', async () => {
    const { evidence } = await observe([shop()], {
      alter: (message, { type }) => (type === TYPE.SOA ? undefined : message),
    });
    expect(outcomes(evidence)).toEqual([`${NS1} answered ours`, expect.stringContaining('silent')]);
    const failure = expect.stringContaining('1 of 2');
    expect(judgePreflight(evidence)).toMatchObject({ verifiedBy: [], failure });
  });
});
