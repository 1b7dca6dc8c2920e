// What counts as the parent's word on a DS set, and what asking for it may cost.

import { describe, expect, it } from 'vitest';
import type { DsEvidence } from '../../../src/checks/dnssec/ds-evidence.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import type { Name } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type Alter, SignedExchange } from '../../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../../support/dnssec/signed-zone.ts';
import { dsOf, makeKey } from '../../support/dnssec/signing.ts';
import {
  COM_A,
  COM_B,
  comInternet,
  internet,
  ROOT_A,
  ROOT_B,
  testResolver,
} from '../../support/world/test-resolver.ts';
import {
  answering,
  type Conduct,
  name,
  reply,
  type ZoneExchange,
  zone,
} from '../../support/world/zone-exchange.ts';

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
  it('is asked for at every address, and told with its TTL', async () => {
    const exchange = comInternet(SIGNED);
    const evidence = await observe(exchange);
    expect(seen(evidence)).toEqual([`${COM_A} positive 300 17 4711`, `${COM_B} positive 300 17 4711`].sort());
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

describe('what says nothing about a DS set', () => {
  const child = answering('example.com. 300 SOA ns.nic. admin.nic. 1 7200 900 1209600 600');
  const referral = answering('example.com. 300 NS ns.example.com.');
  it.each<[string, (honest: Message) => Message, string]>([
    ['a referral', () => reply({ authorities: referral.answers }), 'refers to the domain'],
    ['an answer without AA', (honest) => ({ ...honest, aa: false }), 'without AA'],
    [
      'NODATA with the SOA of the domain itself',
      () => reply({ aa: true, authorities: child.answers }),
      'not of the parent zone',
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

  it('silence', async () => {
    const exchange = comInternet(SIGNED).behave(COM_B, ({ type }) => (type === 'DS' ? 'silent' : undefined));
    expect(seen(await observe(exchange))).toContain(`${COM_B} unknown -`);
  });

  it('a parent without any address', async () => {
    const evidence = await observe(internet('com NS ns.void.\nvoid NS ns.void.'));
    expect(seen(evidence)).toEqual([' unknown -']);
  });
});

describe('the limits', () => {
  it('no more than 120 packets leave, however many addresses a parent has and however silent they are', async () => {
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

  it('the root has no parent, and a signal ends it with its reason', async () => {
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

  it('vouches for the DS set and for its absence, by NSEC and NSEC3, also with opt-out', async () => {
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

  it('is not believed without its signatures: neither a DS set nor that there is none', async () => {
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
