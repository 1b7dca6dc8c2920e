// The warnings about zones signed by others: a valid zone, and one change each that makes it doubtful.

import { describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../src/dns/name.ts';
import { coveredType } from '../../src/dns/record/covered-type.ts';
import { TYPE, typeMnemonic } from '../../src/dns/type-codes.ts';
import { buildZone } from '../../src/zone/build-zone.ts';
import { DoubtList } from '../../src/zone/verbatim/doubt-list.ts';
import { judgeSignedZone } from '../../src/zone/verbatim/judge-signed-zone.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import type { DenialStyle } from '../support/dnssec/denial-chain.ts';
import { signRecords } from '../support/dnssec/sign-records.ts';
import { makeKey, signSet } from '../support/dnssec/signing.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('example.');
const DAY = 86_400;
const NOW = 1_800_000_000;
const TIME = { inception: NOW - DAY, expiration: NOW + 10 * DAY };
const KEY = makeKey(13);
const OTHER_KEY = makeKey(13);
const TEXT = `@ 60 SOA ns h 1 2 3 4 30
@ 60 NS ns
ns 60 A 192.0.2.1
a.ent 60 TXT x
*.w 60 MX 1 ns
cut 60 NS ns.cut
ns.cut 60 A 192.0.2.2
safe 60 NS ns.cut
safe 60 DS 1 13 2 ${'ab'.repeat(32)}`;
const UNSIGNED = recordsOf(TEXT, 'example.');
const NSEC: DenialStyle = { kind: 'nsec' };
const NSEC3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;

function signed(denial: DenialStyle = NSEC, time = TIME): ZoneRecord[] {
  return signRecords(APEX, UNSIGNED, { key: KEY, time, denial });
}

function doubtsOf(records: readonly ZoneRecord[], { maxVerified = 1000 } = {}): string[] {
  const built = buildZone(APEX, records);
  if (built.kind === 'refused') throw new Error(built.problems[0]?.message);
  const doubts = judgeSignedZone(built.zone, { at: NOW, stray: built.stray, maxVerified });
  return doubts.map(({ code, message }) => `${code}: ${message}`);
}

/** Returns the kinds of doubts, sorted. */
function codesOf(records: readonly ZoneRecord[]): string[] {
  return [...new Set(doubtsOf(records).map((line) => line.split(':')[0] as string))].sort();
}

function isSignatureOf(name: string, type: number): (record: ZoneRecord) => boolean {
  const owner: Name = parseName(name, APEX);
  return (record) =>
    record.owner === owner && record.type === TYPE.RRSIG && coveredType(record.rdata) === type;
}

const ofAddress = isSignatureOf('ns', TYPE.A);
const addressSet: Parameters<typeof signSet>[0] = {
  owner: parseName('ns', APEX),
  type: TYPE.A,
  ttl: 60,
  rdata: [Uint8Array.of(192, 0, 2, 1)],
};

const sign = ({ set = addressSet, key = KEY, zone = APEX, time = TIME }) => signSet(set, key, { zone, time });

/** Returns the records with another signature over the address of `ns`. */
function withSignature(by: Parameters<typeof sign>[0]): ZoneRecord[] {
  return signed().map((record) => (ofAddress(record) ? { ...record, rdata: sign(by) } : record));
}

it.each([
  ['unsigned', UNSIGNED],
  ['signed with NSEC', signed()],
  ['signed with NSEC3', signed(NSEC3)],
  ['signed with salt and iterations', signed({ ...NSEC3, salt: Uint8Array.of(1, 2), iterations: 50 })],
])('a zone is not doubtful if it is %s', (_, records) => {
  expect(doubtsOf(records)).toEqual([]);
});

describe('a zone is doubtful', () => {
  const glueOwner = parseName('ns.cut', APEX);
  const glue = { ...addressSet, owner: glueOwner, rdata: [Uint8Array.of(192, 0, 2, 2)] };
  const signature = (owner: Name, rdata: Uint8Array) => ({ owner, type: TYPE.RRSIG, ttl: 60, rdata });
  const otherKey = { owner: APEX, type: TYPE.DNSKEY, ttl: 60, rdata: OTHER_KEY.rdata };
  const signing = { key: KEY, time: TIME, denial: NSEC };
  const stray = signature(addressSet.owner, sign({ set: { ...addressSet, type: TYPE.TXT } }));
  const expired = { inception: NOW - 2 * DAY, expiration: NOW - 1 };
  const wrongSet = { ...addressSet, rdata: [Uint8Array.of(192, 0, 2, 9)] };
  const soon = { ...TIME, expiration: NOW + 7 * DAY - 1 };
  const A = 'ns.example. A';
  const without = (lost: ReturnType<typeof isSignatureOf>) => signed().filter((record) => !lost(record));

  it.each<[readonly ZoneRecord[], string]>([
    [[...signed(), stray], 'STRAY_SIGNATURE: ns.example. RRSIG covers TXT, which does not exist: left out'],
    [
      without(isSignatureOf('@', TYPE.SOA)),
      'SOA_NOT_SIGNED: the SOA of example. has no signature, so the zone is answered as unsigned',
    ],
    [without(ofAddress), `NOT_SIGNED: ${A} has no signature`],
    [withSignature({ time: expired }), `BAD_SIGNATURE: ${A}: a signature has expired`],
    [withSignature({ time: soon }), `EXPIRES_SOON: ${A}: a signature expires in 167 hours`],
    [
      withSignature({ time: { ...TIME, inception: NOW + 1 } }),
      `BAD_SIGNATURE: ${A}: a signature is not valid yet`,
    ],
    [withSignature({ set: wrongSet }), `BAD_SIGNATURE: ${A}: the signature of key ${KEY.tag} is not valid`],
    [
      withSignature({ key: OTHER_KEY }),
      `BAD_SIGNATURE: ${A}: there is no signature of a published key with algorithm 13`,
    ],
    [withSignature({ zone: parseName('test.') }), `BAD_SIGNATURE: ${A}: a signature belongs to another zone`],
    [
      signRecords(APEX, [...UNSIGNED, otherKey], signing),
      `IDLE_KEY: example. DNSKEY ${OTHER_KEY.tag} has not signed anything`,
    ],
    [
      [...signed(), signature(glueOwner, sign({ set: glue }))],
      'NOT_TO_BE_SIGNED: ns.cut.example. A is signed but must not be',
    ],
  ])('for one reason: %#', (records, doubt) => {
    expect(doubtsOf(records)).toEqual([doubt]);
  });

  it.each([NSEC, NSEC3])('if its ring is open: %j', (denial) => {
    const records = signed(denial);
    const denials = records.filter(({ type }) => type === TYPE.NSEC || type === TYPE.NSEC3);
    for (const { owner } of denials) {
      const rest = records.filter(
        (record) => record.owner !== owner || (record.type !== denials[0]?.type && !isOfDenial(record)),
      );
      expect(codesOf(rest), printName(owner)).toEqual(['DENIAL_MISSING', 'DENIAL_NEXT']);
    }
  });

  it('if its denials list the wrong types', () => {
    const more = recordsOf('ns 60 TXT more', 'example.');
    expect(codesOf([...signed(), ...more])).toEqual(['DENIAL_TYPES', 'NOT_SIGNED']);
  });

  it('if unsigned delegations are under opt-out (RFC 5155 §12.2)', () => {
    expect(doubtsOf(signed({ ...NSEC3, optOut: true }))).toEqual([
      'OPT_OUT: cut.example. NS has no DS and may be under opt-out: others can forge such a delegation',
    ]);
  });

  it('if its NSEC3 belong to no current chain', () => {
    const records = signed(NSEC3).filter(({ type }) => type !== TYPE.NSEC3PARAM);
    expect(codesOf(records)).toEqual(['DENIAL_MISSING', 'IDLE_NSEC3', 'STRAY_SIGNATURE']);
  });

  it('if it has no key', () => {
    const records = signed().filter(
      ({ type, rdata }) =>
        type !== TYPE.DNSKEY && !(type === TYPE.RRSIG && coveredType(rdata) === TYPE.DNSKEY),
    );
    expect(codesOf(records)).toContain('NO_KEYS');
  });

  it('if its signatures have an unsupported algorithm', () => {
    const key = makeKey(23);
    const records = signRecords(APEX, UNSIGNED, { key, time: TIME, denial: NSEC });
    expect(doubtsOf(records)).toEqual([
      'UNKNOWN_ALGORITHM: example. is signed with algorithm 23 only: signatures are not verified',
    ]);
  });

  it('if it is too large to be verified completely', () => {
    expect(doubtsOf(signed(), { maxVerified: 5 })).toEqual([
      'NOT_ALL_VERIFIED: example. is large: only the first 5 sets were verified',
    ]);
  });

  it('with few lines of each kind, however many signatures have expired', () => {
    const lines = doubtsOf(signed(NSEC, { inception: NOW - 9 * DAY, expiration: NOW - 1 }));
    expect(lines).toHaveLength(4);
    expect(lines[3]).toMatch(/^BAD_SIGNATURE: and \d+ more of BAD_SIGNATURE$/);
  });
});

function isOfDenial({ type, rdata }: ZoneRecord): boolean {
  return type === TYPE.RRSIG && ['NSEC', 'NSEC3'].includes(typeMnemonic(coveredType(rdata)));
}

it('a list of doubts has three of each kind, and the number of further ones', () => {
  const doubts = new DoubtList();
  const owner = parseName('a.');
  for (let i = 0; i < 5; i++) {
    doubts.add('FIRST', owner, `first ${i}`, TYPE.A);
    if (i < 3) doubts.add('SECOND', owner, `second ${i}`);
  }
  expect(doubts.list).toEqual([
    ...[0, 1, 2].map((i) => ({ code: 'FIRST', message: `first ${i}`, owner, type: TYPE.A })),
    { code: 'FIRST', message: 'and 2 more of FIRST' },
    ...[0, 1, 2].map((i) => ({ code: 'SECOND', message: `second ${i}`, owner })),
  ]);
});
