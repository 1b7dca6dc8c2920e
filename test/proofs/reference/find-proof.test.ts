import { describe, expect, it } from 'vitest';
import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import { foldCase, isWithin, type Name, parseName, printName } from '../../../src/dns/name.ts';
import { DS } from '../../../src/dns/record/types/dnssec.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { type HashedDenial, markOf, type Zone, type ZoneRecord } from '../../../src/zone/zone.ts';
import { describeSet } from '../../../src/zone/zone-problem.ts';
import { replyOf } from '../../support/dnssec/answer-records.ts';
import { Bogus } from '../../support/dnssec/bogus.ts';
import type { DenialStyle } from '../../support/dnssec/denial-chain.ts';
import { type AskedFor, type Judgement, judgeSignedReply } from '../../support/dnssec/judge-signed-reply.ts';
import { signRecords } from '../../support/dnssec/sign-records.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import { type Random, randomFrom, randomQuestion, randomZone } from '../../support/random/random-zones.ts';
import { type Answer, findAnswer } from '../../support/reference/find-answer.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

function signHalfTheCuts(random: Random, apex: Name, records: readonly ZoneRecord[]): ZoneRecord[] {
  const cuts = new Set(
    records.filter(({ type, owner }) => type === TYPE.NS && owner !== apex).map(({ owner }) => owner),
  );
  const others = records.filter(({ type }) => type !== TYPE.DS);
  const digest = new Uint8Array(32);
  const rdata = Uint8Array.from(DS.encode({ keyTag: 1, algorithm: 13, digestType: 2, digest }));
  const ds = [...cuts]
    .filter(() => random() < 0.5)
    .map((owner) => ({ owner, type: TYPE.DS, ttl: 300, rdata }));
  return [...others, ...ds];
}

// A validator that knows only the zone's keys checks that each answer is proven and has no unnecessary record.
const APEX = parseName('example.');
const PROOFS: ReadonlySet<number> = new Set([TYPE.NSEC, TYPE.NSEC3, TYPE.DS]);
const NOW = 1_800_000_000;
const KEY = makeKey(13);
const TIME = { inception: NOW - 1000, expiration: NOW + 1000 };
const NSEC3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;
const STYLES: readonly (readonly [string, DenialStyle])[] = [
  ['NSEC', { kind: 'nsec' }],
  ['NSEC3', NSEC3],
  ['NSEC3 with salt and iterations', { ...NSEC3, salt: Uint8Array.of(0xab, 0xcd), iterations: 5 }],
  ['NSEC3 with opt-out', { ...NSEC3, optOut: true }],
];

function signed(apex: Name, records: readonly ZoneRecord[], denial: DenialStyle): Zone {
  return zoneOfRecords(apex, signRecords(apex, records, { key: KEY, time: TIME, denial }));
}

/**
 * Opt-out may omit an empty non-terminal above unsigned cuts. A missing name below it cannot be proven if a wildcard
 * exists at the remaining closest encloser (RFC 5155 §7.1, §7.2.2).
 */
function isLeftOpen({ nodes }: Zone, fault: string): boolean {
  const wildcard = /^(\*\..*): no record covers its hash$/.exec(fault)?.[1];
  return wildcard !== undefined && nodes.has(parseName(wildcard));
}

function ask(zone: Zone, name: string, type: number): Answer {
  return findAnswer(zonesOf(zone), parseName(name, APEX), type, { dnssecOk: true });
}

/** `unprovable` is what opt-out makes impossible to prove. */
function judge(zone: Zone, asked: AskedFor): Judgement | 'unprovable' {
  const answer = findAnswer(zonesOf(zone), asked.name, asked.type, { dnssecOk: true });
  try {
    return judgeSignedReply(replyOf(answer), asked, { apex: zone.apex, keys: [KEY.rdata], at: NOW });
  } catch (error) {
    if (!(error instanceof Bogus)) throw error;
    if (isLeftOpen(zone, error.message)) return 'unprovable';
    throw new Error(
      `${printName(asked.name)} ${typeMnemonic(asked.type)} (${answer.kind}): ${error.message}`,
    );
  }
}

/** Every proof is necessary: without any one of them, the answer proves less than it says. */
function withoutEachProof(zone: Zone, asked: AskedFor): void {
  const answer = findAnswer(zonesOf(zone), asked.name, asked.type, { dnssecOk: true });
  for (const proof of answer.authority.filter(({ type }) => PROOFS.has(type))) {
    const less = { ...answer, authority: answer.authority.filter((set) => set !== proof) };
    const trusted = { apex: zone.apex, keys: [KEY.rdata], at: NOW };
    expect(
      () => judgeSignedReply(replyOf(less), asked, trusted),
      describeSet(proof.owner, proof.type),
    ).toThrow(Bogus);
  }
}

/** Queries around the zone, including the names of its denials. */
function randomAsked(random: Random, zone: Zone, names: readonly Name[]): AskedFor {
  const { name, type } = randomQuestion(random, zone, names);
  return { name: foldCase(name), type };
}

/** Owners of the proofs in the authority section, and DS instead if it is there. */
function proofsIn({ authority }: Answer): string[] {
  const proofs = authority.filter(({ type }) => PROOFS.has(type));
  return proofs.map(({ owner, type }) => `${typeMnemonic(type)} ${printName(owner)}`);
}

/** The zone of RFC 4035 A and RFC 5155 A, which are nearly identical. */
const RFC_ZONE = `@ 3600 SOA ns1 bugs.x.w 1 3600 300 3600000 3600
@ 3600 NS ns1
@ 3600 NS ns2
@ 3600 MX 1 xx
a 3600 NS ns1.a
a 3600 NS ns2.a
a 3600 DS 57855 5 1 B6DCD485719ADCA18E5F3D48A2331627FDD3636B
ns1.a 3600 A 192.0.2.5
ns2.a 3600 A 192.0.2.6
ai 3600 A 192.0.2.9
ai 3600 HINFO "KLH-10" "ITS"
ai 3600 AAAA 2001:db8::f00:baa9
ns1 3600 A 192.0.2.1
ns2 3600 A 192.0.2.2
*.w 3600 MX 1 ai
x.w 3600 MX 1 xx
x.y.w 3600 MX 1 xx
xx 3600 A 192.0.2.10
xx 3600 HINFO "KLH-10" "TOPS-20"
xx 3600 AAAA 2001:db8::f00:baaa
`;

const rfcRecords = (denial: DenialStyle) =>
  signRecords(APEX, recordsOf(RFC_ZONE, 'example.'), { key: KEY, time: TIME, denial });

describe('the examples of RFC 4035 B', () => {
  const text = `${RFC_ZONE}b 3600 NS ns1.b\nb 3600 NS ns2.b\nns1.b 3600 A 192.0.2.7\nns2.b 3600 A 192.0.2.8`;
  const zone = signed(APEX, recordsOf(text, 'example.'), { kind: 'nsec' });
  it.each([
    ['B.1 an answer', 'x.w', TYPE.MX, []],
    ['B.2 no such name', 'ml', TYPE.A, ['NSEC b.example.', 'NSEC example.']],
    ['B.3 no such type', 'ns1', TYPE.MX, ['NSEC ns1.example.']],
    ['B.4 a referral to a signed zone', 'mc.a', TYPE.MX, ['DS a.example.']],
    ['B.5 a referral to an unsigned zone', 'mc.b', TYPE.MX, ['NSEC b.example.']],
    ['B.6 an answer from a wildcard', 'a.z.w', TYPE.MX, ['NSEC x.y.w.example.']],
    ['B.7 no such type at a wildcard', 'a.z.w', TYPE.AAAA, ['NSEC *.w.example.', 'NSEC x.y.w.example.']],
    ['B.8 DS asked of the child', '@', TYPE.DS, ['NSEC example.']],
    ['an empty non-terminal, which owns no NSEC', 'y.w', TYPE.A, ['NSEC x.w.example.']],
    ['a name behind the last one', 'zz', TYPE.A, ['NSEC xx.example.', 'NSEC example.']],
    ['one record that covers both name and wildcard', 'a.x.w', TYPE.A, ['NSEC x.w.example.']],
  ] as const)('%s', (_, name, type, proofs) => {
    expect(proofsIn(ask(zone, name, type))).toEqual(proofs);
    expect(judge(zone, { name: parseName(name, APEX), type })).toBe('secure');
  });
});

describe('the examples of RFC 5155 B', () => {
  const hashedName = '2t7b4g4vsa5smi47k61mv5bv1a22bojr 3600 A 192.0.2.127\n';
  const text = `${RFC_ZONE}${hashedName}c 3600 NS ns1.c\nc 3600 NS ns2.c\nns1.c 3600 A 192.0.2.7\nns2.c 3600 A 192.0.2.8`;
  const salt = Uint8Array.of(0xaa, 0xbb, 0xcc, 0xdd);
  const zone = signed(APEX, recordsOf(text, 'example.'), {
    kind: 'nsec3',
    iterations: 12,
    salt,
    optOut: true,
  });
  const apex = '0p9mhaveqvm6t7vbl5lop2u3t2rp3tom';
  const zwCover = 'q04jkcevqvmu85r014c7dkba38o0ji5r';
  const last = '35mthgpgcu1qg68fab165klnsnk3dpvl';
  const ENCLOSER = 'k8udemvp1j2f7eg6jebps17vp3n8i58h';
  const WILDCARD = 'r53bq7cc2uvmubfu5ocmm6pers9tk9en';
  it.each([
    ['B.1 no such name', 'a.c.x.w', TYPE.A, ['b4um86eghhds6nea196smvmlo4ors995', apex, last]],
    ['B.2 no such type', 'ns1', TYPE.MX, ['2t7b4g4vsa5smi47k61mv5bv1a22bojr']],
    ['B.2.1 an empty non-terminal', 'y.w', TYPE.A, ['ji6neoaepv8b5o6k4ev33abha8ht9fgc']],
    ['B.3 a referral to an unsigned zone under opt-out', 'mc.c', TYPE.MX, [apex, last]],
    ['B.4 an answer from a wildcard', 'a.z.w', TYPE.MX, [zwCover]],
    ['B.5 no such type at a wildcard', 'a.z.w', TYPE.AAAA, [ENCLOSER, zwCover, WILDCARD]],
    ['B.6 DS asked of the child', '@', TYPE.DS, [apex]],
  ] as const)('%s', (_, name, type, hashes) => {
    expect(proofsIn(ask(zone, name, type))).toEqual(hashes.map((hash) => `NSEC3 ${hash}.example.`));
    judge(zone, { name: parseName(name, APEX), type });
  });

  it('a name that only an NSEC3 owns does not exist, even for a query of that name (RFC 5155 §7.2.8)', () => {
    for (const type of [TYPE.NSEC3, TYPE.A, TYPE.ANY, TYPE.RRSIG]) {
      const answer = ask(zone, apex, type);
      expect(answer.kind).toBe('nxdomain');
      judge(zone, { name: parseName(apex, APEX), type });
    }
    expect(ask(zone, '2t7b4g4vsa5smi47k61mv5bv1a22bojr', TYPE.A).kind).toBe('answer');
    expect(ask(zone, '2t7b4g4vsa5smi47k61mv5bv1a22bojr', TYPE.NSEC3).kind).toBe('nodata');
  });
});

const PROOFS_TEXT = `@ 60 SOA ns h 1 2 3 4 30
@ 60 NS ns.example.net.
one 60 CNAME x.w1
*.w1 60 CNAME y.w2
*.w2 60 CNAME z.end
*.w3 60 CNAME y.w3
out 60 CNAME elsewhere.example.net.
*.out2 60 CNAME elsewhere.example.net.
deep 60 DNAME w4
*.w4 60 A 192.0.2.1
*.w5 60 MX 1 a
long 60 DNAME ${'a'.repeat(63)}.${'b'.repeat(63)}.${'c'.repeat(63)}.test.`;

describe('proofs', () => {
  const zone = signed(APEX, recordsOf(PROOFS_TEXT, 'example.'), { kind: 'nsec' });

  it.each(
    rowsOf(`
of every link that a wildcard gave, then of the end (RFC 6604 §3) | one | *.w1 / *.w2 / @ / deep
of the links of a loop, which has no end | x.w3 | *.w3
of nothing if the target lies outside | out |
of the link if the target of a wildcard lies outside | x.out2 | *.out2
of what a DNAME leads to | x.deep | *.w4
of nothing for YXDOMAIN | ${'x'.repeat(63)}.long |
included once if one record proves two things | x.w5 | *.w5`),
  )('are %s', (_, name = '', owners) => {
    const seen = new Set(proofsIn(ask(zone, name, TYPE.A)));
    const wanted = itemsOf(owners).map((owner) => `NSEC ${printName(parseName(owner, APEX))}`);
    expect(seen).toEqual(new Set(wanted));
    expect(judge(zone, { name: parseName(name, APEX), type: TYPE.A })).toBe('secure');
  });

  const withoutSets = (denial: DenialStyle, isLost: (record: ZoneRecord) => boolean) =>
    zoneOfRecords(
      APEX,
      rfcRecords(denial).filter((record) => !isLost(record)),
    );

  it('that the zone lacks are left out, and none denies an existing name', () => {
    const without = (name: string) => {
      const lost = parseName(name, APEX);
      return withoutSets({ kind: 'nsec' }, ({ owner, type }) => owner === lost && type === TYPE.NSEC);
    };
    expect(proofsIn(ask(without('ns1'), 'ns1', TYPE.MX))).toEqual([]);
    expect(proofsIn(ask(without('*.w'), 'a.z.w', TYPE.AAAA))).toEqual(['NSEC x.y.w.example.']);
    expect(proofsIn(ask(without('@'), 'aaa', TYPE.AAAA))).toEqual(['NSEC a.example.', 'NSEC xx.example.']);
  });

  it('by NSEC3 records that the zone lacks are left out too', () => {
    const [own] = proofsIn(ask(zoneOfRecords(APEX, rfcRecords(NSEC3)), 'ns1', TYPE.MX));
    const partial = withoutSets(NSEC3, ({ owner }) => `NSEC3 ${printName(owner)}` === own);
    expect(proofsIn(ask(partial, 'ns1', TYPE.MX))).toEqual([]);
    const none = withoutSets(NSEC3, ({ type }) => type === TYPE.NSEC3);
    for (const question of ['ns1 MX', 'nope A', 'a.z.w AAAA', 'a.z.w MX', 'y.w A']) {
      const [name = '', type] = question.split(' ');
      expect(proofsIn(ask(none, name, TYPE[type as 'A' | 'AAAA' | 'MX']))).toEqual([]);
    }
  });

  it('cannot be given if a missing name has the hash of an existing one: SERVFAIL (RFC 5155 §7.2.9)', () => {
    const records = rfcRecords(NSEC3);
    const zone = zoneOfRecords(APEX, records);
    const { denials } = zone;
    if (denials?.kind !== 'nsec3') throw new Error('not hashed');
    const collidingWith = (name: string): Zone => {
      const hash = nsec3Hash(parseName(name, APEX), new Uint8Array(), 0);
      const entries = [...denials.entries, { ...(denials.entries[0] as HashedDenial), hash }];
      entries.sort((a, b) => Buffer.compare(a.hash, b.hash));
      return { ...zone, denials: { ...denials, entries } };
    };
    const failed = { kind: 'failed', rcode: 2, authoritative: false, answer: [], authority: [] };
    expect(ask(collidingWith('nope'), 'nope', TYPE.A)).toMatchObject(failed);
    expect(ask(collidingWith('nope'), 'x.y.nope', TYPE.A)).toMatchObject(failed);
    expect(ask(collidingWith('*'), 'nope', TYPE.A)).toMatchObject(failed);
    expect(ask(collidingWith('z.w'), 'a.z.w', TYPE.MX)).toMatchObject(failed);
    expect(findAnswer(zonesOf(collidingWith('nope')), parseName('nope', APEX), TYPE.A).kind).toBe('nxdomain');
  });
});

describe.each(STYLES)('NSEC at an alias in a zone signed with %s', (_, denial) => {
  const zone = signed(APEX, recordsOf(`${PROOFS_TEXT}\nz.end 60 A 192.0.2.1`, 'example.'), denial);
  const isHashed = denial.kind === 'nsec3';

  it.each([
    ['one', 'CNAME CNAME CNAME', 'nodata'],
    ['out', 'CNAME', 'answer'],
    ['x.w3', 'CNAME CNAME', 'answer'],
  ])('is that of the alias, or follows it if there is only NSEC3: %s', (name, chain, end) => {
    const { kind, answer } = ask(zone, name, TYPE.NSEC);
    const followed = { kind: end, types: chain };
    const own = { kind: 'answer', types: 'NSEC' };
    const types = answer.map(({ type }) => typeMnemonic(type)).join(' ');
    expect({ kind, types }).toEqual(isHashed ? followed : own);
    expect(judge(zone, { name: parseName(name, APEX), type: TYPE.NSEC })).not.toBe('unprovable');
    expect(ask(zone, name, TYPE.RRSIG).answer.map(({ type }) => type)).toEqual([TYPE.RRSIG]);
  });
});

describe('a marked name', () => {
  const records = [...recordsOf(RFC_ZONE, 'example.'), markOf(parseName('mark', APEX))];
  it.each(STYLES)('has its own proof in a zone signed with %s', (_, denial) => {
    const zone = signed(APEX, records, denial);
    for (const type of [TYPE.A, TYPE.ANY]) {
      const answer = ask(zone, 'mark', type);
      expect([answer.kind, answer.answer]).toEqual(['nodata', []]);
      expect(proofsIn(answer)).toHaveLength(1);
      expect(judge(zone, { name: parseName('mark', APEX), type })).toBe('secure');
    }
    expect(judge(zone, { name: parseName('x.mark', APEX), type: TYPE.A })).not.toBe('unprovable');
  });
});

describe.each(STYLES)('a zone signed with %s', (_, denial) => {
  it('answers random queries with proofs that a validator needs and accepts', () => {
    const random = randomFrom(Number(process.env.ZONEFLEET_SEED ?? 11));
    const seen = new Map<string, number>();
    for (let round = 0; round < scale(60, 1); round++) {
      const { text, apex } = randomZone(random, 'o.test.', 5 + Math.floor(random() * 50), ['other.test.']);
      const cuts = signHalfTheCuts(random, parseName(apex), recordsOf(text, apex));
      const zone = signed(parseName(apex), cuts, denial);
      const names = [...zone.nodes.keys()];
      for (let i = 0; i < scale(600, 50); i++) {
        const asked = randomAsked(random, zone, names);
        if (!isWithin(asked.name, zone.apex)) continue;
        const judged = judge(zone, asked);
        if (judged === 'secure') withoutEachProof(zone, asked);
        seen.set(judged, (seen.get(judged) ?? 0) + 1);
      }
    }
    expect(seen.get('secure')).toBeGreaterThan(scale(500, 15));
    expect(seen.get('unprovable') ?? 0).toBeLessThan(20);
    const optsOut = denial.kind === 'nsec3' && denial.optOut;
    expect((seen.get('insecure') ?? 0) > 0).toBe(optsOut);
    if (!optsOut) expect(seen.get('unprovable')).toBeUndefined();
  });
});
