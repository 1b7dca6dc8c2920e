import { describe, expect, it } from 'vitest';
import { OverBudget, ValidationBudget } from '../../src/checks/validation/budget.ts';
import {
  dsOf as anchorDsOf,
  anchorsToTrust,
  type RolledAnchor,
  rollAnchors,
} from '../../src/checks/validation/roll-anchors.ts';
import { type RootKeys, readRootKeys } from '../../src/checks/validation/root-keys.ts';
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
*.wild CNAME target.elsewhere.
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

/** The claim of a zone's reply, as a resolver reads it. */
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
    it.each(rows)('with %s', (_, at, ...expected) => {
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
        // One signed record that shows costly hashes is sufficient. Opt-out leaves open what else exists.
        const isOpen = denial === COSTLY || (denial === OPT_OUT && owner.startsWith(SOURCE_OF_TYPED));
        expect(kind, `without ${owner}`).toBe(isOpen && owners.length > 1 ? 'insecure' : 'bogus');
      }
    });
  });

  const [plain, hashed] = [zoneWith(NSEC), zoneWith(NSEC3)];
  const referral = (at: string) => ({ kind: 'referral', cut: name(at) }) as const;
  const denied = (at: string) => ({ kind: 'nxdomain', name: name(at) }) as const;
  const withoutDs = kept(
    ({ type, rdata }) => type !== TYPE.DS && !(type === TYPE.RRSIG && rdata[1] === TYPE.DS),
  );
  const deepName = `${'a.'.repeat(110)}test`;
  const unsigned = kept(({ type }) => type !== TYPE.RRSIG);

  /** The proof of a wildcard's own record, shown at another name. */
  function movedWildcard(at: Name): Message {
    const { authorities, ...message } = nsAt(plain, 'x.typed.test');
    const moved = authorities.map((record) =>
      record.owner === name('*.typed.test') ? { ...record, owner: at } : record,
    );
    return { ...message, authorities: moved };
  }

  /** A wildcard's answer at a name with a closer encloser. */
  function strayAlias(zone: SignedZone, at: Name): Message {
    const alias = nsAt(zone, 'x.wild.test');
    const answers = alias.answers.map((record) => ({ ...record, owner: at }));
    return {
      ...alias,
      answers,
      authorities: [...alias.authorities, ...nsAt(zone, 'y.deep.wild.test').authorities],
    };
  }

  /** The fault of the reply | the name whose reply it is | the claim | the reason. */
  it.each(
    rowsOf(`
the proof of another cut | plain.test | referral signed.test |
the denial of another name | none.test | nxdomain a.test |
the record at a cut that denies a name below (RFC 6840 §4.1) | plain.test | nxdomain x.plain.test |
a referral that the proof denies | a.test | referral a.test | the proof shows that there is no delegation
the proof of an empty non-terminal for NXDOMAIN | ent.test | nxdomain ent.test |`),
  )('is bogus with %s', (_, at = '', claimed = '', reason) => {
    const [kind, of = ''] = claimed.split(' ');
    for (const zone of [plain, hashed]) {
      const claim = kind === 'referral' ? referral(of) : denied(of);
      expect(judged(nsAt(zone, at), claim)).toMatchObject({ kind: 'bogus', ...(reason && { reason }) });
    }
  });

  it('is bogus with records that are missing or moved', () => {
    const [typed, stray] = [name('x.typed.test'), name('y.deep.wild.test')];
    expect(judged(movedWildcard(typed), { kind: 'nodata', name: typed })).toEqual({
      kind: 'bogus',
      reason: 'the proof comes from a wildcard',
    });
    for (const zone of [plain, hashed]) {
      expect(validate(zone, 'signed.test', withoutDs)).toMatchObject({ kind: 'bogus' });
      expect(judged(strayAlias(zone, stray), { kind: 'alias', name: stray })).toMatchObject({
        kind: 'bogus',
        reason: 'no proof that the name itself does not exist',
      });
    }
    const costly = zoneWith(COSTLY); // RFC 9276 §3.2
    expect(validate(costly, 'plain.test', unsigned)).toMatchObject({ kind: 'bogus' });
  });

  it('limits the names that one check hashes (CVE-2023-50868)', () => {
    const limit = { kind: 'limit', reason: 'too many names to hash' };
    expect(judged(nsAt(hashed, deepName), denied(deepName))).toEqual(limit);
  });

  it("is bogus if the child's own record denies its DS set", () => {
    const message = plain.answer({ name: TEST, type: TYPE.DS });
    const reason = 'the proof is from the child side of a zone cut';
    expect(validateDs(message, TEST, secureZone(), usual())).toEqual({ kind: 'bogus', reason });
  });

  it('contains the DS set', () => {
    const at = name('signed.test');
    const secure = { kind: 'secure', ds: [dsOf(at, OTHER)] };
    const message = plain.answer({ name: at, type: TYPE.DS });
    expect(validateDs(message, at, secureZone(), usual())).toMatchObject(secure);
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

  it('is valid with one signature of its zone, until its TTL or signature ends', () => {
    expect(verify(signed([KEY]))).toMatchObject({ kind: 'valid', until: AT + 300, labels: 2 });
    expect(verify(signed([OTHER, KEY]))).toMatchObject({ kind: 'valid' });
    expect(verify(signed([KEY], { ...TIME, expiration: AT + 5 }))).toMatchObject({ until: AT + 5 });
  });

  it.each([
    ['no signature', set(), 'there is no signature'],
    ['the signature of another key', signed([OTHER]), 'no signature matches a key of the zone'],
    ['another signer', signed([KEY], TIME, name('other')), 'no signature was made by the zone'],
    ['other data', { ...signed([KEY]), rdata: [Uint8Array.of(1, 66)] }, 'a signature is invalid'],
    ['an unknown algorithm', signed([makeKey(16)]), 'no signature was made by the zone'],
  ] as const)('is bogus with %s', (_, one, reason) => {
    expect(verify(one)).toEqual({ kind: 'bogus', reason });
  });

  it.each<[string, number, number, number, number]>([
    ['an hour after a short life', 0, 1000, 1000 + 3599, 1000 + 3601],
    ['a tenth of its life after the end', 0, 100_000, 100_000 + 9999, 100_000 + 10_001],
    ['a day after a long life', 0, 10_000_000, 10_000_000 + 86_399, 10_000_000 + 86_401],
    ['an hour before the start', 50_000, 1000, 50_000 - 3599, 50_000 - 3601],
  ])('is valid for wrong clocks until %s', (_, inception, life, valid, bogus) => {
    const one = signed([KEY], { inception, expiration: inception + life });
    const reason = bogus < inception ? 'a signature is not valid yet' : 'a signature has expired';
    expect(verify(one, [KEY], valid).kind).toBe('valid');
    expect(verify(one, [KEY], bogus)).toEqual({ kind: 'bogus', reason });
  });

  it('is bogus if its signature ends before it begins', () => {
    expect(verify(signed([KEY], { inception: AT, expiration: AT - 1 })).kind).toBe('bogus');
  });

  it('counts times modulo 2^32 (RFC 4034 §3.1.5)', () => {
    const time = { inception: 2 ** 32 - 1000, expiration: 5000 };
    expect(verify(signed([KEY], time), [KEY], 100).kind).toBe('valid');
  });

  it('is tried with at most four keys of one tag and eight signatures (KeyTrap, CVE-2023-50387)', () => {
    const one = signed([KEY]);
    const [twin] = secureZone([OTHER]).keys as [SecureZone['keys'][number]];
    const keys = (count: number) => [...Array(count).fill({ ...twin, tag: KEY.tag }), ...secureZone().keys];
    const withTwins = (count: number) =>
      verifySet(one, { zone: TEST, keys: keys(count), at: AT, budget: budget() });
    expect(withTwins(3).kind).toBe('valid');
    expect(() => withTwins(4)).toThrow(OverBudget);
    const wrong = { ...one.signatures[0], signature: new Uint8Array(64).fill(1) };
    const many = (count: number) => ({
      ...one,
      signatures: [...Array(count).fill(wrong), ...one.signatures],
    });
    expect(verify(many(7)).kind).toBe('valid');
    expect(() => verify(many(8))).toThrow(OverBudget);
  });

  it('costs one check at most 16 verifications, and a repeated one none', () => {
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

  it('are all signing keys if one of them is in the DS set', () => {
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
  ])('are bogus if %s', (_, set, ds) => {
    expect(keysFor(set, ds)).toMatchObject({ kind: 'bogus' });
  });

  it.each([
    ['revoked (RFC 5011 §2.1)', KEY_SIGNING_KEY | REVOKED],
    ['not a zone key (RFC 4034 §2.1.1)', 1],
  ])('are bogus if the key in the DS set is %s', (_, flags) => {
    const key = withFlags(KEY, flags);
    expect(keysFor(keySet([key]), dsOf(TEST, key))).toMatchObject({ kind: 'bogus' });
  });

  it('are absent if every algorithm or digest is unknown (RFC 4035 §5.2)', () => {
    expect(usableDs([dsOf(TEST, makeKey(16)), dsOf(TEST, KEY, 3), dsOf(TEST, KEY, 200)])).toEqual([]);
    expect(usableDs([dsOf(TEST, makeKey(16)), dsOf(TEST, KEY)])).toHaveLength(1);
  });

  it('ignore SHA-1 if there is a better digest (RFC 4509 §3)', () => {
    expect(usableDs([dsOf(TEST, KEY, 1)])).toHaveLength(1);
    expect(
      usableDs([dsOf(TEST, KEY, 1), dsOf(TEST, KEY, 2), dsOf(TEST, KEY, 4)]).map((ds) => ds.digestType),
    ).toEqual([2, 4]);
  });

  it('cost little if many keys and DS records share a tag', () => {
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

/** Returns other octets with the same tag: one octet gains what another of the same weight loses (RFC 4034 appendix B). */
function twinOctets(octets: Uint8Array, i: number): Uint8Array {
  const twin = Uint8Array.from(octets);
  const sameWeight = [...octets.keys()].filter((at) => at % 2 === 1);
  const gains = sameWeight.filter((at) => (octets[at] as number) < 255)[i] as number;
  const loses = sameWeight.find((at) => at !== gains && (octets[at] as number) > 0) as number;
  twin[gains] = (octets[gains] as number) + 1;
  twin[loses] = (octets[loses] as number) - 1;
  return twin;
}

describe('a rollover of trust anchors', () => {
  const DAY = 86_400_000;
  const [OLD, NEW, THIRD] = [makeKey(13).rdata, makeKey(13).rdata, makeKey(13).rdata];
  const CONFIGURED = [anchorDsOf(OLD)];
  const NAMED = [
    ['old', OLD],
    ['new', NEW],
    ['third', THIRD],
  ] as const;
  const nameOf = (octets: Uint8Array, of = (key: Uint8Array) => key) =>
    NAMED.find(([, key]) => Buffer.compare(of(key), octets) === 0)?.[0];
  const states = (anchors: readonly RolledAnchor[]) =>
    anchors.map(({ key, state }) => `${nameOf(key)} ${state}`);
  const trusted = (anchors: readonly RolledAnchor[], configured = CONFIGURED) =>
    anchorsToTrust(configured, anchors).map((ds) => nameOf(ds, anchorDsOf));
  const days = (count: number, seen: Partial<RootKeys>) => Array.from({ length: count }, () => seen);

  it('begins with the configured keys', () => {
    const anchors = roll([{ present: [OLD, NEW] }]);
    expect(states(anchors)).toEqual(['old valid', 'new pending']);
    expect(trusted(anchors)).toEqual(['old']);
    expect(trusted([])).toEqual(['old']);
  });

  it('trusts a new key after 30 days in every set', () => {
    expect(states(roll(days(30, { present: [OLD, NEW] })))).toEqual(['old valid', 'new pending']);
    const anchors = roll(days(31, { present: [OLD, NEW] }));
    expect(states(anchors)).toEqual(['old valid', 'new valid']);
    expect(trusted(anchors)).toEqual(['old', 'new']);
  });

  it('starts again for a key that was missing for a day', () => {
    const seen = [
      ...days(29, { present: [OLD, NEW] }),
      { present: [OLD] },
      ...days(29, { present: [OLD, NEW] }),
    ];
    expect(states(roll(seen))).toEqual(['old valid', 'new pending']);
  });

  it('learns nothing from sets that do not validate', () => {
    const seen = [{ present: [OLD, NEW] }, ...days(40, {})];
    expect(states(roll(seen))).toEqual(['old valid', 'new pending']);
    expect(states(roll([...seen, { present: [OLD, NEW] }]))).toEqual(['old valid', 'new valid']);
  });

  it('keeps trusting a key that is missing', () => {
    const anchors = roll([{ present: [OLD] }, { present: [NEW] }]);
    expect(states(anchors)).toEqual(['old missing', 'new pending']);
    expect(trusted(anchors)).toEqual(['old']);
    expect(states(roll([{ present: [OLD] }, { present: [] }, { present: [OLD] }]))).toEqual(['old valid']);
  });

  it('never again trusts a key that has revoked itself, even if it is configured and returns', () => {
    const rolled = [
      ...days(31, { present: [OLD, NEW] }),
      { present: [NEW], revoked: [OLD] },
      ...days(99, { present: [OLD, NEW] }),
    ];
    const anchors = roll(rolled);
    expect(states(anchors)).toEqual(['old revoked', 'new valid']);
    expect(trusted(anchors)).toEqual(['new']);
    expect(trusted(roll([{ revoked: [OLD] }]))).toEqual([]);
  });

  it('ignores an unknown revoked key, and forgets a pending one', () => {
    expect(states(roll([{ present: [OLD], revoked: [THIRD] }]))).toEqual(['old valid']);
    expect(states(roll([{ present: [OLD, NEW] }, { present: [OLD], revoked: [NEW] }]))).toEqual([
      'old valid',
    ]);
  });

  it('restarts the 30 days if the clock was set back', () => {
    const both = { present: [OLD, NEW], revoked: [] };
    const first = rollAnchors([], both, CONFIGURED, 100 * DAY);
    const back = rollAnchors(first, both, CONFIGURED, 10 * DAY);
    const onDay = (day: number) => states(rollAnchors(back, both, CONFIGURED, day * DAY))[1];
    expect([onDay(39), onDay(40)]).toEqual(['new pending', 'new valid']);
  });

  it('stores at most 16 keys', () => {
    const many = Array.from({ length: 40 }, (_, i) => Uint8Array.of(1, 1, 3, 13, i));
    expect(rollAnchors([], { present: [OLD, ...many], revoked: [] }, CONFIGURED, 0)).toHaveLength(16);
  });

  /** One entry per day: the keys seen. Returns the states of the last day, such as `old valid, new pending`. */
  function roll(days: readonly Partial<RootKeys>[], configured = CONFIGURED) {
    let anchors: RolledAnchor[] = [];
    for (const [day, seen] of days.entries())
      anchors = rollAnchors(anchors, { present: undefined, revoked: [], ...seen }, configured, day * DAY);
    return anchors;
  }
});

describe('the keys of the root', () => {
  const [OLD, NEW] = [makeKey(8), makeKey(13)];
  const ZSK = makeKey(13, ZONE_KEY);
  const [OLD_REVOKED, NEW_REVOKED] = [OLD, NEW].map((key) => withFlags(key, KEY_SIGNING_KEY | REVOKED)) as [
    SigningKey,
    SigningKey,
  ];

  it('may become anchors if an anchor validates them, except those that only sign data', () => {
    const { present, revoked } = read([OLD, NEW, ZSK], [OLD]);
    expect(present).toHaveLength(2);
    expect(present).toEqual(expect.arrayContaining([OLD.rdata, NEW.rdata]));
    expect(revoked).toEqual([]);
  });

  it('are absent if no anchor signed the set', () => {
    expect(read([OLD, NEW], [NEW]).present).toBeUndefined();
  });

  it('can revoke themselves with only their own signature', () => {
    expect(read([OLD_REVOKED, NEW], [OLD_REVOKED, NEW])).toEqual({
      present: undefined,
      revoked: [OLD.rdata],
    });
    expect(read([OLD_REVOKED, NEW], [NEW]).revoked).toEqual([]);
    const both = read([OLD, NEW_REVOKED], [OLD, NEW_REVOKED]);
    expect(both).toEqual({ present: [OLD.rdata], revoked: [NEW.rdata] });
  });

  function read(keys: readonly SigningKey[], signers: readonly SigningKey[]) {
    const zone = new SignedZone({
      apex: name('.'),
      text: '@ NS a.root.',
      keys: { entry: signers, others: [], idle: keys.map(({ rdata }) => rdata) },
      time: { inception: AT - 1000, expiration: AT + 1000 },
      denial: { kind: 'nsec' },
    });
    const set = setAt(zone.answer({ name: name('.'), type: TYPE.DNSKEY }).answers, name('.'), TYPE.DNSKEY);
    return readRootKeys(set as SignedSet, [anchorDsOf(OLD.rdata)], {
      at: AT,
      budget: new ValidationBudget(),
    });
  }
});
