// What the preflight of a DS set asks, and which replies of a domain's nameservers it lets pass.

import { describe, expect, it } from 'vitest';
import {
  judgePreflight,
  type PreflightEvidence,
  type PreflightKey,
} from '../../../src/checks/dnssec/preflight.ts';
import type { Message } from '../../../src/dns/message/message.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type Alter, SignedExchange } from '../../support/dnssec/signed-exchange.ts';
import { SignedZone } from '../../support/dnssec/signed-zone.ts';
import { makeKey, type SigningKey } from '../../support/dnssec/signing.ts';
import { ROOT_A, ROOT_B, testResolver } from '../../support/world/test-resolver.ts';
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
