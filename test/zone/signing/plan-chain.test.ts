// The other chain of a signed zone: what is written for it makes it whole, changes nothing else, and shows in no answer.

import { describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { findAnswer } from '../../../src/zone/find-answer.ts';
import { denialType } from '../../../src/zone/signing/denial-records.ts';
import { planChain } from '../../../src/zone/signing/plan-chain.ts';
import { ODD_LABELS, WantedZone } from '../../support/dnssec/signed-edits.ts';
import { SignedRows } from '../../support/dnssec/signed-rows.ts';
import { toldRows } from '../../support/dnssec/told-rows.ts';
import { dnskeyRecords, type KeySetting, keySettings } from '../../support/dnssec/zone-keys.ts';
import { randomFrom } from '../../support/random/random-zones.ts';
import { zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { zonesOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('zone.example.');
const NOW = Math.floor(Date.now() / 1000);
const TIMES = { inception: NOW - 10_000, expiration: NOW + 1_000_000 };
const SETTING = Object.values(keySettings())[0] as KeySetting;

describe.each([
  ['nsec', 'nsec3'],
  ['nsec3', 'nsec'],
] as const)('from %s to %s', (from, to) => {
  test('is the chain of a zone that is signed with it from the beginning', () => {
    const random = randomFrom(7);
    const order = { apex: APEX, keys: SETTING.keys, remakeBefore: NOW };
    for (let i = 0; i < 20; i++) {
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
