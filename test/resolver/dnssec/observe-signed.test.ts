// What the preflight of a DS set asks, and which replies of a domain's nameservers it lets pass.

import { describe, expect, it } from 'vitest';
import {
  judgePreflight,
  type PreflightEvidence,
  type PreflightKey,
} from '../../../src/checks/dnssec/preflight.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { createResolver } from '../../../src/resolver/resolver.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type Alter, SignedExchange } from '../../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../../support/dnssec/signed-zone.ts';
import { makeKey, type SigningKey } from '../../support/dnssec/signing.ts';
import { dice, ROOT_A, ROOT_B } from '../../support/world/test-resolver.ts';
import { name } from '../../support/world/zone-exchange.ts';

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

function shop({ text = TEXT, denial = NSEC, isUnsigned = false, keys, time = TIME }: Made = {}): SignedZone {
  const signing = keys ?? { entry: [KEY], others: [] };
  return new SignedZone({ apex: DOMAIN, text, keys: signing, time, denial, isUnsigned });
}

async function observe(
  [first, second]: readonly [SignedZone, SignedZone?],
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
  const resolver = createResolver({
    exchange,
    rootServers: [{ name: name('a.root'), addresses: [ROOT_A, ROOT_B] }],
    allowed: [],
    rates: { async take() {} },
    hasIpv6: () => false,
    now: () => NOW * 1000,
    random: dice(1),
  });
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
    ['with a key for keys and one for data', { keys: { entry: [KEY], others: [OTHER] } }],
  ] satisfies readonly (readonly [string, Made])[])('%s', async (_, made) => {
    const { evidence } = await observe([shop(made)]);
    expect(outcomes(evidence)).toEqual(VALID);
    expect(judgePreflight(evidence).verifiedBy).toEqual(['ours']);
  });

  it('after its keys, SOA, wildcard and a name that is not there were asked for at every address', async () => {
    const { asked } = await observe([shop()]);
    const own = asked.map((text) => text.split(' ')).filter(([, at]) => at?.endsWith(DOMAIN));
    const counts = (type: string) => own.filter(([asking]) => asking === type).length;
    expect([counts('DNSKEY'), counts('SOA'), counts('A')]).toEqual([2, 2, 4]);
  });
});

describe('a domain fails', () => {
  it.each([
    ['when one address is not signed', { isUnsigned: true }, 'shows no keys'],
    [
      'when one address has another key',
      { keys: { entry: [OTHER], others: [] } },
      'no key matches its DS records',
    ],
    [
      'when one address has old signatures',
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
    ['when a denial is missing', without(TYPE.NSEC), 'nothing proves'],
    ['when the SOA of a denial is missing', without(TYPE.SOA), 'SOA'],
    ['when signatures are missing', without(TYPE.RRSIG), 'signature'],
    ['when it answers without AA', (message: Message) => ({ ...message, aa: false }), 'no keys'],
  ])('%s', async (_, change, words) => {
    const { evidence } = await observe([shop()], { alter: change });
    const [first, second] = outcomes(evidence);
    expect(first).toBe(`${NS1} answered ours`);
    expect(second).toMatch(new RegExp(`^${NS2} answered .*${words}`));
  });

  it('when no key of ours may have a DS record', async () => {
    const { evidence } = await observe([shop()], { keys: [{ ...OURS, isSep: false }] });
    expect(judgePreflight(evidence)).toMatchObject({ verifiedBy: [], hasStrangers: false });
  });
});

describe('a domain with two keys', () => {
  it('is verified by those that sign its DNSKEY set at every address', async () => {
    const both = shop({ keys: { entry: [KEY, OTHER], others: [OTHER] } });
    const { evidence } = await observe([both], { keys: [OURS, NEXT] });
    expect(judgePreflight(evidence)).toEqual({ verifiedBy: ['ours', 'next'], hasStrangers: false });
    const mixed = await observe([both, shop()], { keys: [OURS, NEXT] });
    expect(judgePreflight(mixed.evidence).verifiedBy).toEqual(['ours']);
  });

  it('is told when its nameservers answer with different ones', async () => {
    const other = shop({ keys: { entry: [OTHER], others: [] } });
    const { evidence } = await observe([shop(), other], { keys: [OURS, NEXT] });
    expect(judgePreflight(evidence)).toMatchObject({
      verifiedBy: [],
      failure: expect.stringContaining('different keys'),
    });
  });

  it('is told when one of them is unknown to us', async () => {
    const { evidence } = await observe([shop({ keys: { entry: [KEY], others: [OTHER] } })]);
    expect(judgePreflight(evidence)).toEqual({ verifiedBy: ['ours'], hasStrangers: true });
  });
});

describe('nothing can be said', () => {
  it('while an address does not answer every question', async () => {
    const { evidence } = await observe([shop()], {
      alter: (message, { type }) => (type === TYPE.SOA ? undefined : message),
    });
    expect(outcomes(evidence)).toEqual([`${NS1} answered ours`, expect.stringContaining('silent')]);
    expect(judgePreflight(evidence)).toMatchObject({
      verifiedBy: [],
      failure: expect.stringContaining('1 of 2'),
    });
  });
});
