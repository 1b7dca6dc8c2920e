import { describe, expect, it, test } from 'vitest';
import { readSignature } from '../../../src/dns/dnssec/signed-octets.ts';
import { compareNames, type Name, parseName, printName } from '../../../src/dns/name.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import type { EdgeSets } from '../../../src/zone/edge-sets.ts';
import { denialType } from '../../../src/zone/signing/denial-records.ts';
import { BrokenRing } from '../../../src/zone/signing/link-denials.ts';
import { planChain } from '../../../src/zone/signing/plan-chain.ts';
import { markOfSignature, planEdgeMarks, setsToSign } from '../../../src/zone/signing/plan-edge-marks.ts';
import { planRefresh } from '../../../src/zone/signing/plan-refresh.ts';
import { planSigning } from '../../../src/zone/signing/plan-signing.ts';
import { signSet } from '../../../src/zone/signing/sign-set.ts';
import type { DenialKind } from '../../../src/zone/signing/signed-types.ts';
import type { SigningKey } from '../../../src/zone/signing/signing-key.ts';
import { groupRecords, recordsByOwner } from '../../../src/zone/signing/standing.ts';
import { edgeMarkOf, isMark, type ZoneRecord } from '../../../src/zone/zone.ts';
import { denialRecords } from '../../support/dnssec/denial-chain.ts';
import { ODD_LABELS, WantedZone } from '../../support/dnssec/signed-edits.ts';
import { SignedRows } from '../../support/dnssec/signed-rows.ts';
import { makeKey } from '../../support/dnssec/signing.ts';
import {
  dnskeyRecords,
  type KeySetting,
  keySettings,
  type TestKey,
  testKey,
} from '../../support/dnssec/zone-keys.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { findAnswer } from '../../support/reference/find-answer.ts';
import { itemsOf, rowsOf, wordsOf } from '../../support/tests/rows-of.ts';
import { scale } from '../../support/tests/scale.ts';
import { checkSigned } from '../../support/zone/check-signed.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { recordsOf, zonesOf } from '../../support/zone/zone-text.ts';

function toldRows(records: readonly ZoneRecord[]): string[] {
  return records.map((record) => `${printName(record.owner)} ${record.ttl} ${rest(record)}`).sort();
}

function rest(record: ZoneRecord): string {
  const { type, rdata } = record;
  if (isMark(record)) return 'mark';
  if (type !== TYPE.RRSIG) return `${typeMnemonic(type)} ${printRdata(type, rdata)}`;
  const { typeCovered, keyTag } = readSignature(rdata);
  return `RRSIG ${typeMnemonic(typeCovered)} ${keyTag}`;
}

const APEX = parseName('zone.example.');
const NOW = 1_800_000_000;
const TIMES = { inception: NOW - 10_000, expiration: NOW + 1_000_000 };

const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const CSK = testKey();
const SIGNERS = { keys: { entry: [CSK], data: [CSK] }, remakeBefore: NOW + 1000 };

type Wanted = ReadonlyMap<Name, readonly ZoneRecord[]>;
const order = (denial: DenialKind, wanted: Wanted, whole = false) => ({
  apex: APEX,
  denial,
  wanted,
  whole,
  ...SIGNERS,
});

const told = (rows: SignedRows) => toldRows(rows.records());
const faultsOf = (rows: SignedRows) => checkSigned(APEX, rows.records(), NOW).map(({ text }) => text);
const at = (text: string) => parseName(text === '@' ? 'zone.example.' : `${text}.zone.example.`);
const BASE = `
@ 3600 SOA ns h 1 2 3 4 900
@ 3600 NS ns
b 300 A 192.0.2.1
d 300 A 192.0.2.1
x.ent 300 A 192.0.2.1
y.ent 300 A 192.0.2.1
cut 300 NS ns.cut
ns.cut 300 A 192.0.2.2
host.plain 300 A 192.0.2.3`;
let serial = 1;
const apexText = () => `@ 3600 SOA ns h ${++serial} 2 3 4 900\n@ 3600 NS ns`;

/** Returns the zone of the text, signed. */
function zoneOf(denial: DenialKind, text = BASE): SignedRows {
  const rows = new SignedRows(APEX);
  rows.sign(order(denial, wantedOf(text), true), TIMES);
  return rows;
}

/** @param gone names without wanted records */
function wantedOf(text: string, gone: readonly string[] = [], keys = [CSK]): Map<Name, ZoneRecord[]> {
  const wanted = recordsByOwner([...recordsOf(text, 'zone.example.'), ...dnskeyRecords(APEX, keys)]);
  for (const name of gone) wanted.set(at(name), []);
  return wanted;
}

/** Describes what an edit signs, and how often it had to read. */
function edit(rows: SignedRows, denial: DenialKind, text: string, gone: readonly string[] = []) {
  const { plan, asked } = rows.sign(order(denial, wantedOf(`${apexText()}\n${text}`, gone)), TIMES);
  expect(faultsOf(rows)).toEqual([]);
  const signed = plan.toSign.map(
    ({ set }) =>
      `${printName(set.owner).replace(/\.?zone\.example\.$/, '') || '@'} ${typeMnemonic(set.type)}`,
  );
  return { signed: signed.sort(), asked };
}

describe.each(['nsec', 'nsec3'] as const)('a zone signed with %s', (denial) => {
  it('is the same after random edits as when it is signed as a whole', { timeout: 600_000 }, () => {
    const random = randomFrom(SEED);
    for (let zone = 0; zone < scale(200, 2); zone++) {
      const wanted = new WantedZone(
        random,
        { apex: APEX, own: dnskeyRecords(APEX, [CSK]), marks: true, labels: ODD_LABELS },
        6,
      );
      const rows = new SignedRows(APEX);
      rows.sign(order(denial, wanted.names, true), TIMES);
      for (let edit = 0; edit < scale(60, 7); edit++) {
        const touched = wanted.edit();
        rows.sign(order(denial, touched), TIMES);
        const whole = new SignedRows(APEX);
        whole.sign(order(denial, wanted.names, true), TIMES);
        const names = [...touched.keys()].map(printName).join(' ');
        expect(told(rows), `zone ${zone} edit ${edit}: ${names}`).toEqual(told(whole));
        if (edit % 5 === 0) expect(faultsOf(rows)).toEqual([]);
      }
    }
  });
});

describe.each(['nsec', 'nsec3'] as const)('the ring of %s', (denial) => {
  it('equals that of a chain built separately from all sets', () => {
    const random = randomFrom(SEED + 1);
    for (let zone = 0; zone < scale(200, 2); zone++) {
      const setting = { apex: APEX, own: dnskeyRecords(APEX, [CSK]), marks: false, labels: ODD_LABELS };
      const wanted = new WantedZone(random, setting, 12);
      const rows = new SignedRows(APEX);
      rows.sign(order(denial, wanted.names, true), TIMES);
      for (let edit = 0; edit < 10; edit++) rows.sign(order(denial, wanted.edit()), TIMES);
      const sets = new Map<Name, Map<number, true>>();
      for (const { owner, type } of rows.records()) {
        if (type === TYPE.RRSIG || type === TYPE.NSEC || type === TYPE.NSEC3) continue;
        sets.set(owner, (sets.get(owner) ?? new Map<number, true>()).set(type, true));
      }
      const style =
        denial === 'nsec'
          ? { kind: 'nsec' as const }
          : { kind: 'nsec3' as const, iterations: 0, salt: new Uint8Array(), optOut: false };
      const made = rows
        .records()
        .filter(({ type }) => type === TYPE.NSEC || type === TYPE.NSEC3)
        .map(({ owner, type, rdata }) => ({ owner, type, rdata }))
        .sort((a, b) => compareNames(a.owner, b.owner));
      expect(made).toEqual(denialRecords(APEX, sets, style));
    }
  });
});

describe.each(['nsec', 'nsec3'] as const)('a zone signed with %s and a record of any type', (denial) => {
  it.each(
    rowsOf(`
LOC | 52 22 23 N 4 53 32 E -2m
DNAME | New.Example.
SMIMEA | 3 0 1 ABCD
OPENPGPKEY | AAAA
CERT | PGP 0 0 AAAA
HINFO | "ARM64" "LINUX"
TYPE10 | \\# 0
TYPE65280 | \\# 3 414243`),
  )('signs a set of type %s, and shows the type in the denial of its name', (type, rdata = '') => {
    const rows = zoneOf(denial);
    const { signed } = edit(rows, denial, `b 300 A 192.0.2.1\nb 300 ${type} ${rdata}`);
    expect(signed.filter((set) => !/NSEC/.test(set))).toEqual(['@ SOA', `b ${type}`]);
    const denials = told(rows).filter((line) => / NSEC3? /.test(line));
    expect(denials.filter((line) => line.split(' ').includes(type))).toHaveLength(1);
    edit(rows, denial, 'b 300 A 192.0.2.1');
    expect(told(rows).filter((line) => line.split(' ').includes(type))).toEqual([]);
  });
});

describe('an edit of a zone with NSEC', () => {
  it.each(
    rowsOf(`
a changed address | b 300 A 192.0.2.9 | @ SOA / b A
no change | d 300 A 192.0.2.1 | @ SOA
a changed TTL | b 60 A 192.0.2.1 | @ SOA / b A
changed types | b 300 A 192.0.2.1 / b 300 TXT x | @ SOA / b NSEC / b TXT
a new name | c 300 A 192.0.2.9 | @ SOA / b NSEC / c A / c NSEC`),
  )('signs, after one step of reading, only the sets that %s requires', (_, text, wanted) => {
    const { signed, asked } = edit(zoneOf('nsec'), 'nsec', itemsOf(text).join('\n'));
    expect([signed, asked.length]).toEqual([itemsOf(wanted), 1]);
  });

  it('signs two sets for a deleted name, and one for another case in rdata, which is published', () => {
    expect(edit(zoneOf('nsec', `${BASE}\nc 300 A 192.0.2.9`), 'nsec', '', ['c']).signed).toEqual([
      '@ SOA',
      'b NSEC',
    ]);
    const rows = zoneOf('nsec', `${BASE}\nm 300 MX 10 Mail`);
    expect(edit(rows, 'nsec', 'm 300 MX 10 mAIL').signed).toEqual(['@ SOA']);
    expect(rows.rows.get(at('m'))?.some(({ rdata }) => Buffer.from(rdata).includes('mAIL'))).toBe(true);
  });

  it('removes signatures and denials from names below a new cut, and restores them when it is removed', () => {
    const rows = zoneOf('nsec');
    const begun = edit(rows, 'nsec', 'plain 300 NS ns.invalid.');
    expect(begun.signed).toEqual(['@ SOA', 'plain NSEC', 'y.ent NSEC']);
    expect(begun.asked.length).toBe(2);
    expect(rows.rows.get(at('host.plain'))?.map(({ type }) => type)).toEqual([TYPE.A]);
    const ended = edit(rows, 'nsec', '', ['plain']);
    expect(ended.signed).toEqual(['@ SOA', 'host.plain A', 'host.plain NSEC', 'y.ent NSEC']);
  });

  it('requests the whole zone only if the TTL of all denials changes (RFC 9077)', () => {
    const rows = zoneOf('nsec');
    const wanted = wantedOf('@ 3600 SOA ns h 2 2 3 4 60\n@ 3600 NS ns');
    const { plan, asked } = rows.sign(order('nsec', wanted), TIMES);
    expect(asked.map(({ whole }) => whole)).toEqual([false, true]);
    expect(plan.toSign.every(({ set }) => set.type === TYPE.SOA || set.type === TYPE.NSEC)).toBe(true);
    expect(faultsOf(rows)).toEqual([]);
  });

  it('keeps the octets of signatures that are not due, and renews those that are', () => {
    const rows = zoneOf('nsec');
    const signatures = (name: string) =>
      (rows.rows.get(at(name)) ?? []).filter(({ type }) => type === TYPE.RRSIG);
    const before = signatures('b');
    const wanted = wantedOf(`${apexText()}\nb 300 A 192.0.2.1`);
    const later = (remakeBefore: number) =>
      rows.sign({ ...order('nsec', wanted), remakeBefore }, { ...TIMES, expiration: TIMES.expiration + 500 });
    later(TIMES.expiration);
    expect(signatures('b')).toEqual(before);
    const { plan } = later(TIMES.expiration + 1);
    const types = plan.toSign.map(({ set }) => typeMnemonic(set.type));
    expect(types.sort()).toEqual(wordsOf('A DNSKEY NS NSEC NSEC'));
  });

  it('writes only the denial and the signatures of a neighbour', () => {
    const rows = zoneOf('nsec');
    const planning = rows.sign(order('nsec', wantedOf(`${apexText()}\nc 300 A 192.0.2.9`)), TIMES);
    const written = planning.plan.rows(planning.plan.toSign.map(() => new Uint8Array(20)));
    expect(written.find(({ owner }) => owner === at('b'))?.types).toEqual([TYPE.NSEC, TYPE.RRSIG]);
    const whole = written.filter(({ types }) => types === undefined).map(({ owner }) => owner);
    expect(whole.sort()).toEqual([APEX, at('c')].sort());
  });

  it('does not sign sets that another signer signed', () => {
    const rows = zoneOf('nsec');
    const wanted = wantedOf(`${apexText()}\nb 300 A 192.0.2.1\nb 300 NSEC d A\n@ 0 NSEC3PARAM 1 0 0 -`);
    wanted.get(at('b'))?.push(
      ...zoneOf('nsec')
        .records()
        .filter(({ owner, type }) => owner === at('b') && type === TYPE.RRSIG),
    );
    rows.sign(order('nsec', wanted), TIMES);
    expect(told(rows)).toEqual(told(zoneOf('nsec', BASE.replace('ns h 1', `ns h ${serial}`))));
  });

  it('is refused without the apex, and on a broken ring', () => {
    expect(() => planSigning(order('nsec', new Map())).next()).toThrow(RangeError);
    const rows = zoneOf('nsec');
    rows.rows.set(
      at('b'),
      (rows.rows.get(at('b')) ?? []).filter(({ type }) => type !== TYPE.NSEC),
    );
    expect(() => edit(rows, 'nsec', 'c 300 A 192.0.2.9')).toThrow(BrokenRing);
  });
});

describe('an edit of a zone with NSEC3', () => {
  it('adds NSEC3 records for empty non-terminals, and removes them when no name is left below', () => {
    const rows = zoneOf('nsec3');
    const hashed = () => rows.records().filter(({ type }) => type === TYPE.NSEC3).length;
    const before = hashed();
    edit(rows, 'nsec3', 'deep.er.new 300 A 192.0.2.9');
    expect(hashed()).toBe(before + 3);
    edit(rows, 'nsec3', '', ['deep.er.new']);
    expect(hashed()).toBe(before);
    const first = edit(rows, 'nsec3', '', ['x.ent']);
    expect(first.asked.map(({ anyBelow }) => anyBelow)).toEqual([[], [at('x.ent'), at('ent')]]);
    expect(hashed()).toBe(before - 1);
    edit(rows, 'nsec3', '', ['y.ent']);
    expect(hashed()).toBe(before - 3);
  });

  it('reads once if names are added or changed', () => {
    const rows = zoneOf('nsec3');
    expect(edit(rows, 'nsec3', 'new 300 A 192.0.2.9').asked.length).toBe(1);
    expect(edit(rows, 'nsec3', 'new 300 A 192.0.2.8').signed).toEqual(['@ SOA', 'new A']);
  });
});

describe('a key rollover', () => {
  const [ksk, zsk, next] = [testKey(), testKey(13, 256), testKey(13, 256)];
  const rows = new SignedRows(APEX);
  const sign = (data: readonly TestKey[], published: readonly TestKey[]) => {
    const keys = { entry: [ksk], data };
    const { plan } = rows.sign({ ...order('nsec', wantedOf(BASE, [], [...published]), true), keys }, TIMES);
    expect(faultsOf(rows)).toEqual([]);
    return new Set(plan.toSign.map(({ set, key }) => `${typeMnemonic(set.type)} ${key.tag}`));
  };

  it('signs the DNSKEY set with the KSK and all other sets with the ZSK, and re-signs only sets whose key changes', () => {
    const all = sign([zsk], [ksk, zsk]);
    expect(all).toEqual(
      new Set([`DNSKEY ${ksk.tag}`, ...['SOA', 'NS', 'A', 'NSEC'].map((type) => `${type} ${zsk.tag}`)]),
    );
    expect(sign([zsk], [ksk, zsk, next])).toEqual(new Set([`DNSKEY ${ksk.tag}`]));
    expect(sign([next], [ksk, zsk, next])).toEqual(
      new Set(['SOA', 'NS', 'A', 'NSEC'].map((type) => `${type} ${next.tag}`)),
    );
    expect(sign([next], [ksk, next])).toEqual(new Set([`DNSKEY ${ksk.tag}`]));
  });

  it('only applies at the apex: a DNSKEY set elsewhere is data', () => {
    const text = `${BASE}\nhost.plain 300 DNSKEY 257 3 13 ${'A'.repeat(88)}`;
    const wanted = wantedOf(text, [], [ksk, zsk]);
    const keys = { entry: [ksk], data: [zsk] };
    const { plan } = new SignedRows(APEX).sign({ ...order('nsec', wanted, true), keys }, TIMES);
    const signers = plan.toSign.filter(({ set }) => set.type === TYPE.DNSKEY).map(({ key }) => key.tag);
    expect(signers).toEqual([ksk.tag, zsk.tag]);
  });
});

describe('planning a chain of denials', () => {
  const NOW = Math.floor(Date.now() / 1000);
  const SETTING = Object.values(keySettings())[0] as KeySetting;

  describe.each([
    ['nsec', 'nsec3'],
    ['nsec3', 'nsec'],
  ] as const)('from %s to %s', (from, to) => {
    test('yields the chain of a zone that was signed with it from the beginning', () => {
      const random = randomFrom(7);
      const order = { apex: APEX, keys: SETTING.keys, remakeBefore: NOW };
      for (let i = 0; i < scale(20, 5); i++) {
        const own = dnskeyRecords(APEX, SETTING.published);
        const wanted = new WantedZone(random, { apex: APEX, own, marks: true, labels: ODD_LABELS }, 12);
        const rows = new SignedRows(APEX);
        rows.sign({ ...order, denial: from, wanted: wanted.names, whole: true }, TIMES);
        const before = toldRows(rows.records());
        rows.write(planChain(rows.records(), { ...order, denial: to }), TIMES);
        const other = new SignedRows(APEX);
        other.sign({ ...order, denial: to, wanted: wanted.names, whole: true }, TIMES);
        const isParameter = (line: string) => line.includes('NSEC3PARAM ');
        const both = new Set([...before, ...toldRows(other.records()).filter((line) => !isParameter(line))]);
        const after = toldRows(rows.records());
        expect(after.filter((line) => !isParameter(line))).toEqual(
          [...both].filter((line) => !isParameter(line)).sort(),
        );
        expect(after.filter(isParameter)).toEqual(before.filter(isParameter));
        const again = planChain(rows.records(), { ...order, denial: to }).planned;
        expect(again.filter(({ owner }) => owner !== APEX)).toEqual([]);
        const zones = zonesOf(zoneOfRecords(APEX, rows.records()));
        for (const name of wanted.names.keys())
          for (const type of [TYPE.NSEC, TYPE.NSEC3, TYPE.ANY, TYPE.RRSIG, TYPE.AAAA]) {
            const { answer, authority } = findAnswer(zones, name, type, { dnssecOk: true });
            expect([...answer, ...authority].map((set) => set.type)).not.toContain(denialType(to));
          }
      }
    });
  });
});

describe('planning edge marks', () => {
  const ZONE = parseName('example.');
  const WWW = parseName('www.example.');
  const KEY = makeKey(13) as unknown as SigningKey;
  const OTHER = makeKey(13) as unknown as SigningKey;
  const TIMES = { inception: 100, expiration: 1_000 };
  const A = recordsOf('www 60 A 198.51.100.1', 'example.');
  const sets = (...v4: string[][]): EdgeSets => ({
    version: 1,
    countries: {},
    regions: [{ region: 'eu', v4, v6: [['2001:db8::1']] }],
  });
  const EU = sets(['192.0.2.1'], ['192.0.2.2']);

  function plan(records: readonly ZoneRecord[], { of = EU, keys = [KEY], before = 500 } = {}) {
    return planEdgeMarks(groupRecords(WWW, records), setsToSign(of), keys, before);
  }

  function signed(planned: ReturnType<typeof plan>): ZoneRecord[] {
    const fresh = planned.toSign.map((one) =>
      markOfSignature(one, signSet(one, { zone: ZONE, times: TIMES })),
    );
    return [...planned.kept, ...fresh];
  }

  describe('signatures over edge sets', () => {
    const first = plan([...A, edgeMarkOf(WWW)]);
    test('cover the newest set of each type at the name', () => {
      expect(
        first.toSign.map(({ set }) => [set.type, set.ttl, set.rdata.map((one) => one.join('.'))]),
      ).toEqual([[TYPE.A, 60, ['192.0.2.1']]]);
      expect(first.isSame).toBe(false);
    });
    test('are kept while they are valid', () => {
      const again = plan([...A, ...signed(first)]);
      expect(again).toMatchObject({ isSame: true, toSign: [], expiresAt: 1_000 });
    });
    test('are renewed before they expire', () => {
      expect(plan([...A, ...signed(first)], { before: 1_001 }).toSign).toHaveLength(1);
    });
    test('are renewed for another TTL', () => {
      const slower = recordsOf('www 90 A 198.51.100.1', 'example.');
      expect(plan([...slower, ...signed(first)]).toSign).toHaveLength(1);
    });
    test('are made by every signing key', () => {
      expect(plan([...A, ...signed(first)], { keys: [KEY, OTHER] }).toSign.map(({ key }) => key)).toEqual([
        OTHER,
      ]);
    });
    test('are removed when no region publishes their set any longer', () => {
      const marks = signed(first);
      const next = plan([...A, ...marks], { of: sets(['192.0.2.9'], ['192.0.2.1']) });
      expect(next.kept).toEqual([edgeMarkOf(WWW)]);
      expect(next.toSign).toHaveLength(1);
    });
    test('are not made for a name without a mark', () => {
      expect(plan(A)).toMatchObject({ isSame: true, toSign: [] });
    });
  });

  test('are shared by regions that publish the same addresses', () => {
    const { regions } = EU;
    const two = { ...EU, regions: [...regions, ...regions.map((one) => ({ ...one, region: 'us' }))] };
    expect(setsToSign(two)).toHaveLength(2);
  });
});

const [ksk, zsk] = [testKey(), testKey(13, 256)];
const keys = { entry: [ksk], data: [zsk] };
const TEXT = `
@ 3600 SOA ns h 1 2 3 4 900
@ 3600 NS ns
a 300 A 192.0.2.1
cut 300 NS ns.cut
ns.cut 300 A 192.0.2.2`;

function signedUntil(expiration: number): SignedRows {
  const rows = new SignedRows(APEX);
  const wanted = recordsByOwner([...recordsOf(TEXT, 'zone.example.'), ...dnskeyRecords(APEX, [ksk, zsk])]);
  const order = { apex: APEX, denial: 'nsec' as const, keys, remakeBefore: NOW, wanted, whole: true };
  rows.sign(order, { inception: NOW - 100, expiration });
  return rows;
}

describe('a refresh', () => {
  it('renews each signature with its key, and signs nothing that is not signed', () => {
    const rows = signedUntil(NOW + 50);
    const plan = planRefresh(rows.records(), { apex: APEX, keys, remakeBefore: NOW + 51 });
    expect(plan.toSign.length).toBe(rows.records().filter(({ type }) => type === TYPE.RRSIG).length);
    expect(plan.toSign.filter(({ key }) => key === ksk).map(({ set }) => set.type)).toEqual([TYPE.DNSKEY]);
    rows.write(plan, { inception: NOW - 100, expiration: NOW + 5000 });
    expect(checkSigned(APEX, rows.records(), NOW + 4000)).toEqual([]);
  });

  it('leaves signatures that are not due unchanged, even next to one that is', () => {
    const rows = signedUntil(NOW + 50);
    expect(planRefresh(rows.records(), { apex: APEX, keys, remakeBefore: NOW + 50 }).rows([])).toEqual([]);
    const later = signedUntil(NOW + 5000).records();
    const isNsec = (rdata: Uint8Array) => readSignature(rdata).typeCovered === TYPE.NSEC;
    const mixed = [
      ...rows.records().filter(({ type, rdata }) => type !== TYPE.RRSIG || isNsec(rdata)),
      ...later.filter(({ type, rdata }) => type === TYPE.RRSIG && !isNsec(rdata)),
    ];
    const plan = planRefresh(mixed, { apex: APEX, keys, remakeBefore: NOW + 1000 });
    expect(new Set(plan.toSign.map(({ set }) => set.type))).toEqual(new Set([TYPE.NSEC]));
    for (const { owner, types, records } of plan.rows(plan.toSign.map(() => new Uint8Array(30)))) {
      expect(types).toEqual([TYPE.RRSIG]);
      const before = mixed.filter((record) => record.owner === owner && record.type === TYPE.RRSIG);
      expect(records.length).toBe(before.length);
      expect(records.filter((record) => before.some(({ rdata }) => rdata === record.rdata)).length).toBe(
        before.length - 1,
      );
    }
  });

  it('with other keys adds the signatures of a new algorithm, and removes those of the old one', () => {
    const rows = signedUntil(NOW + 5000);
    const times = { inception: NOW - 100, expiration: NOW + 5000 };
    const next = { entry: testKey(15), data: testKey(15, 256) };
    const both = { entry: [ksk, next.entry], data: [zsk, next.data] };
    const signed = () => rows.records().filter(({ type }) => type === TYPE.RRSIG).length;
    const before = signed();
    const resign = (by: typeof both) => {
      const plan = planRefresh(rows.records(), { apex: APEX, keys: by, remakeBefore: NOW });
      rows.write(plan, times);
      return plan.toSign.length;
    };
    expect(resign(both)).toBe(before);
    expect(signed()).toBe(2 * before);
    expect(checkSigned(APEX, rows.records(), NOW)).toEqual([]);
    expect(resign({ entry: [next.entry], data: [next.data] })).toBe(0);
    expect(signed()).toBe(before);
    expect(resign({ entry: [next.entry], data: [next.data] })).toBe(0);
  });
});
