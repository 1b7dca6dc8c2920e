import { describe, expect, it } from 'vitest';
import { compareNames, type Name, parseName, printName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import type { DenialKind } from '../../src/zone/signing/signed-types.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { denialRecords } from '../support/dnssec/denial-chain.ts';
import { ODD_LABELS, WantedZone } from '../support/dnssec/signed-edits.ts';
import { SignedRows } from '../support/dnssec/signed-rows.ts';
import { toldRows } from '../support/dnssec/told-rows.ts';
import { dnskeyRecords, testKey } from '../support/dnssec/zone-keys.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { checkSigned } from '../support/zone/check-signed.ts';

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

describe.each(['nsec', 'nsec3'] as const)('a zone signed with %s', (denial) => {
  it('is after random edits what it is when it is signed as a whole', { timeout: 600_000 }, () => {
    const random = randomFrom(SEED);
    for (let zone = 0; zone < scale(200, 3); zone++) {
      const wanted = new WantedZone(
        random,
        { apex: APEX, own: dnskeyRecords(APEX, [CSK]), marks: true, labels: ODD_LABELS },
        6,
      );
      const rows = new SignedRows(APEX);
      rows.sign(order(denial, wanted.names, true), TIMES);
      for (let edit = 0; edit < scale(60, 25); edit++) {
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
  it('is that of a chain that is made by itself from all sets', () => {
    const random = randomFrom(SEED + 1);
    for (let zone = 0; zone < scale(200, 6); zone++) {
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
