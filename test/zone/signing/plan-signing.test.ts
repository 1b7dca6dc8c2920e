import { describe, expect, it } from 'vitest';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { BrokenRing } from '../../../src/zone/signing/link-denials.ts';
import { planSigning } from '../../../src/zone/signing/plan-signing.ts';
import type { DenialKind } from '../../../src/zone/signing/signed-types.ts';
import { recordsByOwner } from '../../../src/zone/signing/standing.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { SignedRows } from '../../support/dnssec/signed-rows.ts';
import { toldRows } from '../../support/dnssec/told-rows.ts';
import { dnskeyRecords, type TestKey, testKey } from '../../support/dnssec/zone-keys.ts';
import { itemsOf, rowsOf, wordsOf } from '../../support/tests/rows-of.ts';
import { checkSigned } from '../../support/zone/check-signed.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('zone.example.');
const NOW = 1_800_000_000;
const TIMES = { inception: NOW - 10_000, expiration: NOW + 1_000_000 };

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

/** The zone of the text, signed. */
function zoneOf(denial: DenialKind, text = BASE): SignedRows {
  const rows = new SignedRows(APEX);
  rows.sign(order(denial, wantedOf(text), true), TIMES);
  return rows;
}

/** `gone`: names at which nothing is wanted. */
function wantedOf(text: string, gone: readonly string[] = [], keys = [CSK]): Map<Name, ZoneRecord[]> {
  const wanted = recordsByOwner([...recordsOf(text, 'zone.example.'), ...dnskeyRecords(APEX, keys)]);
  for (const name of gone) wanted.set(at(name), []);
  return wanted;
}

/** What an edit signs, in words, and how often it had to read. */
function edit(rows: SignedRows, denial: DenialKind, text: string, gone: readonly string[] = []) {
  const { plan, asked } = rows.sign(order(denial, wantedOf(`${apexText()}\n${text}`, gone)), TIMES);
  expect(faultsOf(rows)).toEqual([]);
  const signed = plan.toSign.map(
    ({ set }) =>
      `${printName(set.owner).replace(/\.?zone\.example\.$/, '') || '@'} ${typeMnemonic(set.type)}`,
  );
  return { signed: signed.sort(), asked };
}

describe('an edit of a zone with NSEC', () => {
  it.each(
    rowsOf(`
an address that changes | b 300 A 192.0.2.9 | @ SOA / b A
nothing that changes | d 300 A 192.0.2.1 | @ SOA
a TTL that changes | b 60 A 192.0.2.1 | @ SOA / b A
types that change | b 300 A 192.0.2.1 / b 300 TXT x | @ SOA / b NSEC / b TXT
a new name | c 300 A 192.0.2.9 | @ SOA / b NSEC / c A / c NSEC`),
  )('signs, after one step of reading, only what %s requires', (_, text, wanted) => {
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

  it('takes signatures and denials from names below a cut that begins, and gives them back when it ends', () => {
    const rows = zoneOf('nsec');
    const begun = edit(rows, 'nsec', 'plain 300 NS ns.invalid.');
    expect(begun.signed).toEqual(['@ SOA', 'plain NSEC', 'y.ent NSEC']);
    expect(begun.asked.length).toBe(2);
    expect(rows.rows.get(at('host.plain'))?.map(({ type }) => type)).toEqual([TYPE.A]);
    const ended = edit(rows, 'nsec', '', ['plain']);
    expect(ended.signed).toEqual(['@ SOA', 'host.plain A', 'host.plain NSEC', 'y.ent NSEC']);
  });

  it('asks for the whole zone only when the TTL of all denials changes (RFC 9077)', () => {
    const rows = zoneOf('nsec');
    const wanted = wantedOf('@ 3600 SOA ns h 2 2 3 4 60\n@ 3600 NS ns');
    const { plan, asked } = rows.sign(order('nsec', wanted), TIMES);
    expect(asked.map(({ whole }) => whole)).toEqual([false, true]);
    expect(plan.toSign.every(({ set }) => set.type === TYPE.SOA || set.type === TYPE.NSEC)).toBe(true);
    expect(faultsOf(rows)).toEqual([]);
  });

  it('keeps the octets of signatures that are not due, and makes those anew that are', () => {
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

  it('leaves out what somebody else signed', () => {
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

  it('is refused without the apex, and on a ring that is broken', () => {
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
  it('gives empty non-terminals a denial, and takes it when nothing is below any more', () => {
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

  it('reads once when names come or change', () => {
    const rows = zoneOf('nsec3');
    expect(edit(rows, 'nsec3', 'new 300 A 192.0.2.9').asked.length).toBe(1);
    expect(edit(rows, 'nsec3', 'new 300 A 192.0.2.8').signed).toEqual(['@ SOA', 'new A']);
  });
});

describe('a roll of keys', () => {
  const [ksk, zsk, next] = [testKey(), testKey(13, 256), testKey(13, 256)];
  const rows = new SignedRows(APEX);
  const sign = (data: readonly TestKey[], published: readonly TestKey[]) => {
    const keys = { entry: [ksk], data };
    const { plan } = rows.sign({ ...order('nsec', wantedOf(BASE, [], [...published]), true), keys }, TIMES);
    expect(faultsOf(rows)).toEqual([]);
    return new Set(plan.toSign.map(({ set, key }) => `${typeMnemonic(set.type)} ${key.tag}`));
  };

  it('signs the DNSKEY set with its keys and data with others, and only what another key is to sign anew', () => {
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

  it('counts at the apex alone: a DNSKEY set elsewhere is data', () => {
    const text = `${BASE}\nhost.plain 300 DNSKEY 257 3 13 ${'A'.repeat(88)}`;
    const wanted = wantedOf(text, [], [ksk, zsk]);
    const keys = { entry: [ksk], data: [zsk] };
    const { plan } = new SignedRows(APEX).sign({ ...order('nsec', wanted, true), keys }, TIMES);
    const signers = plan.toSign.filter(({ set }) => set.type === TYPE.DNSKEY).map(({ key }) => key.tag);
    expect(signers).toEqual([ksk.tag, zsk.tag]);
  });
});
