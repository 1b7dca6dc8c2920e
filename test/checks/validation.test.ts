import { describe, expect, it } from 'vitest';
import { OverBudget, ValidationBudget } from '../../src/checks/validation/budget.ts';
import { type SignedSet, setAt } from '../../src/checks/validation/signed-sets.ts';
import {
  type ReplyClaim,
  type SecureZone,
  validateDs,
  validateReply,
} from '../../src/checks/validation/validate-reply.ts';
import { verifySet } from '../../src/checks/validation/verify-set.ts';
import { usableDs, validateKeys } from '../../src/checks/validation/zone-keys.ts';
import { nsec3Hash } from '../../src/dns/dnssec/nsec3-hash.ts';
import type { Message, MessageRecord } from '../../src/dns/message/message.ts';
import { RCODE } from '../../src/dns/message/rcodes.ts';
import type { Name } from '../../src/dns/name.ts';
import { printBase32Hex } from '../../src/dns/record/base-encodings.ts';
import { CLASS, TYPE } from '../../src/dns/type-codes.ts';
import type { DenialStyle } from '../support/dnssec/denial-chain.ts';
import { SignedZone } from '../support/dnssec/signed-zone.ts';
import {
  dsOf,
  KEY_SIGNING_KEY,
  makeKey,
  REVOKED,
  type SigningKey,
  signSet,
  withFlags,
  ZONE_KEY,
} from '../support/dnssec/signing.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { name } from '../support/world/zone-exchange.ts';

const AT = 1_700_000_000;
const TIME = { inception: AT - 100_000, expiration: AT + 100_000 };
const TEST = name('test');
const KEY = makeKey(13);
const OTHER = makeKey(13);

const NSEC: DenialStyle = { kind: 'nsec' };
const NSEC3: DenialStyle = { kind: 'nsec3', iterations: 1, salt: Uint8Array.of(1, 2), optOut: false };
const OPT_OUT: DenialStyle = { ...NSEC3, optOut: true };
const COSTLY: DenialStyle = { ...NSEC3, iterations: 101 };

const TEXT = `@ NS ns.elsewhere.
plain NS ns.plain
signed NS ns.elsewhere.
a.b.ent A 192.0.2.1
under.ent2 NS ns.elsewhere.
cname CNAME a
to DNAME other.
*.wild CNAME target
deep.wild A 192.0.2.1
*.typed TXT "no ns here"
a A 192.0.2.1
`;

/** The NSEC3 record of `*.typed.test`. */
const SOURCE_OF_TYPED = `\x20${printBase32Hex(nsec3Hash(name('*.typed.test'), Uint8Array.of(1, 2), 1)).toLowerCase()}`;

const zoneWith = (denial: DenialStyle, more: object = {}) =>
  new SignedZone({
    apex: TEST,
    text: TEXT,
    ds: new Map([[name('signed.test'), [dsOf(name('signed.test'), OTHER)]]]),
    keys: { entry: [KEY], others: [] },
    time: TIME,
    denial,
    ...more,
  });

const budget = () => new ValidationBudget();
const usual = () => ({ at: AT, budget: budget() });

function secureZone(keys: readonly SigningKey[] = [KEY]): SecureZone {
  return {
    zone: TEST,
    keys: keys.map(({ tag, algorithm, rdata }) => ({ tag, algorithm, publicKey: rdata.subarray(4), rdata })),
  };
}

/** What the reply of a zone claims, as a resolver reads it. */
function claimOf(message: Message, asked: Name): ReplyClaim {
  const ns = message.authorities.find(({ type }) => type === TYPE.NS);
  if (ns !== undefined && !message.aa) return { kind: 'referral', cut: ns.owner };
  if (message.answers.length > 0) return { kind: 'alias', name: asked };
  return { kind: message.rcode === RCODE.NXDOMAIN ? 'nxdomain' : 'nodata', name: asked };
}

const judged = (message: Message, claim: ReplyClaim) => validateReply(message, claim, secureZone(), usual());
const nsAt = (zone: SignedZone, at: string) => zone.answer({ name: name(at), type: TYPE.NS });

function validate(zone: SignedZone, at: string, alter: (message: Message) => Message = (it) => it) {
  const asked = name(at);
  const message = zone.answer({ name: asked, type: TYPE.NS });
  return validateReply(alter(message), claimOf(message, asked), secureZone(), usual());
}

const kept = (keep: (record: MessageRecord) => boolean) => (message: Message) => ({
  ...message,
  answers: message.answers.filter(keep),
  authorities: message.authorities.filter(keep),
});

describe('a reply of a secure zone', () => {
  /** The reply | the query name | the verdict with NSEC | NSEC3 | opt-out | costly hashes. */
  const rows = rowsOf(`
a delegation with DS | signed.test | secure | secure | secure | secure
a delegation without DS | plain.test | secure | secure | insecure | insecure
a delegation below an empty non-terminal | under.ent2.test | secure | secure | insecure | insecure
a name without NS | a.test | secure | secure | secure | insecure
an empty non-terminal | ent.test | secure | secure | secure | insecure
an empty non-terminal above an unsigned delegation | ent2.test | secure | secure | insecure | insecure
a name that is not there | none.test | secure | secure | insecure | insecure
a name deep below one that is not there | x.y.z.none.test | secure | secure | insecure | insecure
a name below an empty non-terminal | c.ent.test | secure | secure | insecure | insecure
a wildcard without NS | x.typed.test | secure | secure | insecure | insecure
an alias | cname.test | secure | secure | secure | secure
a name below a DNAME | x.to.test | secure | secure | secure | secure
an alias from a wildcard | x.wild.test | secure | secure | insecure | insecure`) as [
    string,
    string,
    ...string[],
  ][];
  describe.each([
    ['NSEC', NSEC],
    ['NSEC3', NSEC3],
    ['NSEC3 with opt-out', OPT_OUT],
    ['NSEC3 with more than 100 iterations', COSTLY],
  ] as const)('with %s', (style, denial) => {
    const zone = zoneWith(denial);
    const column = ['NSEC', 'NSEC3', 'NSEC3 with opt-out'].indexOf(style);
    it.each(rows)('that has %s', (_, at, ...expected) => {
      expect(validate(zone, at)).toMatchObject({ kind: expected.at(column) });
    });

    it.each(rows.map(([what, at]) => [what, at] as const))('is bogus without signatures: %s', (_, at) => {
      const unsigned = kept(({ type }) => type !== TYPE.RRSIG);
      expect(validate(zone, at, unsigned)).toMatchObject({ kind: 'bogus' });
    });

    it.each(
      rows.filter(([, at]) => !/^(signed|cname|x\.to)/.test(at)).map(([what, at]) => [what, at] as const),
    )('is bogus without any one record of its proof: %s', (_, at) => {
      const type = style === 'NSEC' ? TYPE.NSEC : TYPE.NSEC3;
      const whole = zone.answer({ name: name(at), type: TYPE.NS }).authorities;
      const owners = whole.filter((record) => record.type === type).map(({ owner }) => owner);
      for (const owner of owners) {
        const without = kept((record) => record.owner !== owner || record.type === TYPE.NS);
        const { kind } = validate(zone, at, without);
        // One signed record that shows costly hashes is enough; opt-out leaves open what else is there.
        const isOpen = denial === COSTLY || (denial === OPT_OUT && owner.startsWith(SOURCE_OF_TYPED));
        expect(kind, `without ${owner}`).toBe(isOpen && owners.length > 1 ? 'insecure' : 'bogus');
      }
    });
  });

  it('is bogus when a referral comes without its DS set', () => {
    for (const denial of [NSEC, NSEC3]) {
      const stripped = kept(
        ({ type, rdata }) => type !== TYPE.DS && !(type === TYPE.RRSIG && rdata[1] === TYPE.DS),
      );
      expect(validate(zoneWith(denial), 'signed.test', stripped)).toMatchObject({ kind: 'bogus' });
    }
  });

  it('cannot take the proof of another name', () => {
    for (const denial of [NSEC, NSEC3]) {
      const zone = zoneWith(denial);
      const proof = nsAt(zone, 'plain.test');
      const claim = { kind: 'referral', cut: name('signed.test') } as const;
      expect(judged(proof, claim)).toMatchObject({ kind: 'bogus' });
      const gone = { kind: 'nxdomain', name: name('a.test') } as const;
      const other = nsAt(zone, 'none.test');
      expect(judged(other, gone)).toMatchObject({ kind: 'bogus' });
    }
  });

  it('is bogus when the record at a cut shall deny what lies below it (RFC 6840 §4.1)', () => {
    const message = nsAt(zoneWith(NSEC), 'plain.test');
    const claim = { kind: 'nxdomain', name: name('x.plain.test') } as const;
    expect(judged(message, claim)).toMatchObject({ kind: 'bogus' });
  });

  it('is bogus when the child’s own record shall deny its DS', () => {
    const message = zoneWith(NSEC).answer({ name: TEST, type: TYPE.DS });
    expect(validateDs(message, TEST, secureZone(), usual())).toEqual({
      kind: 'bogus',
      reason: "the proof is of the child's side of the cut",
    });
  });

  it('is bogus when it refers to what signed words say is no delegation', () => {
    const zone = zoneWith(NSEC);
    const message = nsAt(zone, 'a.test');
    const claim = { kind: 'referral', cut: name('a.test') } as const;
    expect(judged(message, claim)).toMatchObject({
      kind: 'bogus',
      reason: 'the proof says that nothing is delegated',
    });
  });

  it('is bogus when the proof of an empty non-terminal shall deny the name itself', () => {
    const message = nsAt(zoneWith(NSEC), 'ent.test');
    const claim = { kind: 'nxdomain', name: name('ent.test') } as const;
    expect(judged(message, claim)).toMatchObject({ kind: 'bogus' });
  });

  it('is bogus when a wildcard’s own record is shown at another name', () => {
    const at = name('x.typed.test');
    const { authorities, ...message } = zoneWith(NSEC).answer({ name: at, type: TYPE.NS });
    const moved = authorities.map((record) =>
      record.owner === name('*.typed.test') ? { ...record, owner: at } : record,
    );
    const claim = { kind: 'nodata', name: at } as const;
    expect(judged({ ...message, authorities: moved }, claim)).toEqual({
      kind: 'bogus',
      reason: 'the proof is made from a wildcard',
    });
  });

  it('is bogus when a wildcard stands in for a name that has a closer one above it', () => {
    const at = name('y.deep.wild.test');
    const claim = { kind: 'alias', name: at } as const;
    for (const denial of [NSEC, NSEC3]) {
      const zone = zoneWith(denial);
      const alias = nsAt(zone, 'x.wild.test');
      const denied = zone.answer({ name: at, type: TYPE.NS });
      const answers = alias.answers.map((record) => ({ ...record, owner: at }));
      const authorities = [...alias.authorities, ...denied.authorities];
      expect(judged({ ...alias, answers, authorities }, claim)).toMatchObject({
        kind: 'bogus',
        reason: 'nothing proves that the name itself is not there',
      });
    }
  });

  it('gives the DS set', () => {
    const message = zoneWith(NSEC).answer({ name: name('signed.test'), type: TYPE.DS });
    const ds = [dsOf(name('signed.test'), OTHER)];
    expect(validateDs(message, name('signed.test'), secureZone(), usual())).toMatchObject({
      kind: 'secure',
      ds,
    });
  });

  it('counts costly hashes only when the zone signed that it has them (RFC 9276 §3.2)', () => {
    const forged = kept(({ type }) => type !== TYPE.RRSIG);
    expect(validate(zoneWith(COSTLY), 'plain.test', forged)).toMatchObject({ kind: 'bogus' });
  });

  it('bounds the names that one check hashes (CVE-2023-50868)', () => {
    const zone = zoneWith(NSEC3);
    const deep = name(`${'a.'.repeat(110)}test`);
    const message = zone.answer({ name: deep, type: TYPE.NS });
    const claim = { kind: 'nxdomain', name: deep } as const;
    expect(judged(message, claim)).toEqual({
      kind: 'limit',
      reason: 'too many names to hash',
    });
  });
});

describe('a signed set', () => {
  const set = (more: Partial<SignedSet> = {}): SignedSet => ({
    owner: name('a.test'),
    type: TYPE.TXT,
    rdata: [Uint8Array.of(1, 65)],
    signatures: [],
    ttl: 300,
    ...more,
  });
  const signed = (keys: readonly SigningKey[], time = TIME, zone = TEST) => {
    const bare = set();
    const records = keys.map((key) => ({
      owner: bare.owner,
      type: TYPE.RRSIG,
      class: CLASS.IN,
      ttl: 300,
      rdata: signSet({ ...bare, ttl: 600 }, key, { zone, time }),
    }));
    const rdata = bare.rdata[0] as Uint8Array;
    const own = { owner: bare.owner, type: bare.type, class: CLASS.IN, ttl: 300, rdata };
    return setAt([own, ...records], bare.owner, bare.type) as SignedSet;
  };
  const verify = (one: SignedSet, keys = [KEY], at = AT) =>
    verifySet(one, { ...secureZone(keys), at, budget: budget() });

  it('is valid with one signature of its zone, until TTL or signature end', () => {
    expect(verify(signed([KEY]))).toMatchObject({ kind: 'valid', until: AT + 300, labels: 2 });
    expect(verify(signed([OTHER, KEY]))).toMatchObject({ kind: 'valid' });
    expect(verify(signed([KEY], { ...TIME, expiration: AT + 5 }))).toMatchObject({ until: AT + 5 });
  });

  it.each([
    ['no signature', set(), 'there is no signature'],
    ['the signature of another key', signed([OTHER]), 'no key of the zone made a signature'],
    ['another signer', signed([KEY], TIME, name('other')), 'no signature is of the zone'],
    ['other data', { ...signed([KEY]), rdata: [Uint8Array.of(1, 66)] }, 'a signature is wrong'],
    ['an unknown algorithm', signed([makeKey(16)]), 'no signature is of the zone'],
  ] as const)('is bogus with %s', (_, one, reason) => {
    expect(verify(one)).toEqual({ kind: 'bogus', reason });
  });

  it('forgives a clock that is wrong by a tenth of the life of a signature, an hour at least and a day at most', () => {
    const life = (seconds: number, from = 0) =>
      signed([KEY], { inception: from, expiration: from + seconds });
    expect(verify(life(1000), [KEY], 1000 + 3599).kind).toBe('valid');
    expect(verify(life(1000), [KEY], 1000 + 3601)).toMatchObject({ reason: 'a signature has expired' });
    expect(verify(life(100_000), [KEY], 100_000 + 9999).kind).toBe('valid');
    expect(verify(life(100_000), [KEY], 100_000 + 10_001).kind).toBe('bogus');
    expect(verify(life(10_000_000), [KEY], 10_000_000 + 86_399).kind).toBe('valid');
    expect(verify(life(10_000_000), [KEY], 10_000_000 + 86_401).kind).toBe('bogus');
    expect(verify(life(1000, 50_000), [KEY], 50_000 - 3599).kind).toBe('valid');
    expect(verify(life(1000, 50_000), [KEY], 50_000 - 3601)).toMatchObject({
      reason: 'a signature is not valid yet',
    });
    expect(verify(signed([KEY], { inception: AT, expiration: AT - 1 })).kind).toBe('bogus');
  });

  it('counts times modulo 2^32 (RFC 4034 §3.1.5)', () => {
    const time = { inception: 2 ** 32 - 1000, expiration: 5000 };
    expect(verify(signed([KEY], time), [KEY], 100).kind).toBe('valid');
  });

  it('is tried with four keys of one tag and eight signatures, and no more (KeyTrap, CVE-2023-50387)', () => {
    const one = signed([KEY]);
    const twins = (count: number) =>
      Array.from({ length: count }, () => ({ ...secureZone([OTHER]).keys[0], tag: KEY.tag, algorithm: 13 }));
    const last = { ...(secureZone([KEY]).keys[0] as object) };
    const keys = (count: number) => [...twins(count), last] as unknown as SecureZone['keys'];
    const ask = (count: number) =>
      verifySet(one, { zone: TEST, keys: keys(count), at: AT, budget: budget() });
    expect(ask(3).kind).toBe('valid');
    expect(() => ask(4)).toThrow(OverBudget);
    const wrong = {
      ...one.signatures[0],
      signature: new Uint8Array(64).fill(1),
    } as SignedSet['signatures'][number];
    const many = (count: number) => ({
      ...one,
      signatures: [...Array(count).fill(wrong), ...one.signatures],
    });
    expect(verify(many(7)).kind).toBe('valid');
    expect(() => verify(many(8))).toThrow(OverBudget);
  });

  it('costs one check at most 16 verifications, and the same one again nothing', () => {
    const shared = budget();
    const from = { ...secureZone(), at: AT, budget: shared };
    const one = signed([KEY]);
    for (let i = 0; i < 40; i++) expect(verifySet(one, from).kind).toBe('valid');
    expect(shared.validations).toBe(1);
    for (let i = 1; i < 16; i++) verifySet({ ...one, rdata: [Uint8Array.of(1, i)] }, from);
    expect(shared.validations).toBe(16);
    expect(() => verifySet({ ...one, rdata: [Uint8Array.of(1, 99)] }, from)).toThrow(OverBudget);
    expect(verifySet(one, from).kind).toBe('valid');
  });
});

describe('the keys of a zone', () => {
  const keySet = (
    keys: SigningKey[],
    signers: readonly SigningKey[] = [keys[0] as SigningKey],
    time = TIME,
  ) => {
    const zone = zoneWith(NSEC, {
      keys: { entry: signers, others: [], idle: keys.map(({ rdata }) => rdata) },
      time,
    });
    return setAt(zone.answer({ name: TEST, type: TYPE.DNSKEY }).answers, TEST, TYPE.DNSKEY) as SignedSet;
  };
  const keysFor = (set: SignedSet, ...ds: Uint8Array[]) => validateKeys(set, usableDs(ds), usual());

  it.each([8, 10, 13, 14, 15])('are secure with a DS of algorithm %i', (algorithm) => {
    const key = makeKey(algorithm);
    for (const digest of [1, 2, 4])
      expect(keysFor(keySet([key]), dsOf(TEST, key, digest))).toMatchObject({ kind: 'secure' });
  });

  it('are all keys that sign, when one of them is in the DS set', () => {
    const zsk = makeKey(13, ZONE_KEY);
    expect(keysFor(keySet([KEY, zsk]), dsOf(TEST, OTHER), dsOf(TEST, KEY))).toMatchObject({
      kind: 'secure',
      keys: expect.arrayContaining([
        expect.objectContaining({ tag: KEY.tag }),
        expect.objectContaining({ tag: zsk.tag }),
      ]),
    });
  });

  it.each([
    ['no key is in the DS set', keySet([KEY]), dsOf(TEST, OTHER)],
    ['the DS is of another zone', keySet([KEY]), dsOf(name('other'), KEY)],
    ['the key in the DS set signs nothing', keySet([KEY, OTHER], [OTHER]), dsOf(TEST, KEY)],
    ['the signature has expired', keySet([KEY], [KEY], { inception: 0, expiration: 1000 }), dsOf(TEST, KEY)],
  ])('are bogus when %s', (_, set, ds) => {
    expect(keysFor(set, ds)).toMatchObject({ kind: 'bogus' });
  });

  it.each([
    ['revoked (RFC 5011 §2.1)', KEY_SIGNING_KEY | REVOKED],
    ['no zone key (RFC 4034 §2.1.1)', 1],
  ])('are bogus when the key in the DS set is %s', (_, flags) => {
    const key = withFlags(KEY, flags);
    expect(keysFor(keySet([key]), dsOf(TEST, key))).toMatchObject({ kind: 'bogus' });
  });

  it('count as none where every algorithm or digest is unknown (RFC 4035 §5.2)', () => {
    expect(usableDs([dsOf(TEST, makeKey(16)), dsOf(TEST, KEY, 3), dsOf(TEST, KEY, 200)])).toEqual([]);
    expect(usableDs([dsOf(TEST, makeKey(16)), dsOf(TEST, KEY)])).toHaveLength(1);
  });

  it('do not need SHA-1 where there is a better digest (RFC 4509 §3)', () => {
    expect(usableDs([dsOf(TEST, KEY, 1)])).toHaveLength(1);
    expect(
      usableDs([dsOf(TEST, KEY, 1), dsOf(TEST, KEY, 2), dsOf(TEST, KEY, 4)]).map((ds) => ds.digestType),
    ).toEqual([2, 4]);
  });

  it('cost little when many keys and DS records share a tag', () => {
    const ds = usableDs([dsOf(TEST, KEY)])[0] as ReturnType<typeof usableDs>[number];
    const tricked = { ...ds, digest: new Uint8Array(32) };
    const twin = (i: number) =>
      Uint8Array.of(...KEY.rdata.subarray(0, 4), ...twinOctets(KEY.rdata.subarray(4), i));
    const set = { ...keySet([KEY]), rdata: Array.from({ length: 10 }, (_, i) => twin(i)) };
    expect(validateKeys(set, [tricked], usual())).toMatchObject({ kind: 'limit' });
    const many = Array.from({ length: 17 }, () => ({ ...tricked, keyTag: (ds.keyTag + 1) & 0xffff }));
    expect(validateKeys(keySet([KEY]), [...many, ds], usual())).toMatchObject({ kind: 'limit' });
  });
});

/** Other octets with the same tag: what one octet gains, another of the same weight loses (RFC 4034 appendix B). */
function twinOctets(octets: Uint8Array, i: number): Uint8Array {
  const twin = Uint8Array.from(octets);
  const sameWeight = [...octets.keys()].filter((at) => at % 2 === 1);
  const gains = sameWeight.filter((at) => (octets[at] as number) < 255)[i] as number;
  const loses = sameWeight.find((at) => at !== gains && (octets[at] as number) > 0) as number;
  twin[gains] = (octets[gains] as number) + 1;
  twin[loses] = (octets[loses] as number) - 1;
  return twin;
}
