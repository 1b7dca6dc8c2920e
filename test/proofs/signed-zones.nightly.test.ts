// Zones that our signer signed and edited, as files, are whole and valid for the zone verifiers of others.

import { describe, expect, it } from 'vitest';
import { isWildcard, type Name, parentOf, parseName, printName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import type { DenialKind } from '../../src/zone/signing/signed-types.ts';
import type { Zone, ZoneRecord } from '../../src/zone/zone.ts';
import { ODD_LABELS, PLAIN_LABELS, WantedZone } from '../support/dnssec/signed-edits.ts';
import { SignedRows } from '../support/dnssec/signed-rows.ts';
import { dnskeyRecords, type KeySetting, keySettings } from '../support/dnssec/zone-keys.ts';
import { complaints, VERIFIERS } from '../support/dnssec/zone-verifiers.ts';
import { isInstalled } from '../support/peers/peers.ts';
import { randomFrom } from '../support/random/random-zones.ts';
import { scale } from '../support/tests/scale.ts';
import { checkSigned } from '../support/zone/check-signed.ts';
import { readFixtureZones } from '../support/zone/fixture-zones.ts';

const ZONES = scale(500, 40);
const EDITS = 12;
const SEED = Number(process.env.ZONEFLEET_SEED ?? 20_261_123);
const APEX = parseName('zone.example.');
const NOW = Math.floor(Date.now() / 1000);
const TIMES = { inception: NOW - 10_000, expiration: NOW + 1_000_000 };
const KEYS = keySettings();

function sign(
  wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
  apex: Name,
  denial: DenialKind,
  setting: KeySetting,
) {
  const rows = new SignedRows(apex);
  const order = { apex, denial, keys: setting.keys, remakeBefore: NOW + 1000 };
  rows.sign({ ...order, wanted, whole: true }, TIMES);
  return {
    rows,
    edit: (touched: ReadonlyMap<Name, readonly ZoneRecord[]>) =>
      rows.sign({ ...order, wanted: touched }, TIMES),
  };
}

/** Drops what validns cannot read. */
function isPlainZone(records: readonly ZoneRecord[]): boolean {
  const cuts = new Set(
    records.filter(({ owner, type }) => type === TYPE.NS && owner !== APEX).map(({ owner }) => owner),
  );
  return records.every(({ owner, type }) => {
    if (cuts.has(owner) && type === TYPE.TXT) return false;
    for (let name = owner; name !== APEX && name.length > APEX.length; name = parentOf(name))
      if (name !== owner && isWildcard(name)) return false;
    return true;
  });
}

describe.each(VERIFIERS)('$program', (verifier) => {
  const missing = isInstalled(verifier.program) ? '' : ` (skipped: needs ${verifier.program})`;

  it.skipIf(missing !== '')(`finds nothing wrong with random zones after random edits${missing}`, () => {
    const random = randomFrom(SEED);
    const settings = Object.entries(KEYS).filter(
      ([, { published }]) =>
        verifier.isPlain !== true || published.every(({ algorithm }) => algorithm === 13),
    );
    let seen = 0;
    for (let i = 0; seen < ZONES && i < 20 * ZONES; i++) {
      const [words, setting] = settings[i % settings.length] as (typeof settings)[number];
      const denial = random() < 0.5 ? 'nsec' : 'nsec3';
      const labels = verifier.isPlain === true ? PLAIN_LABELS : ODD_LABELS;
      const zone = {
        apex: APEX,
        own: dnskeyRecords(APEX, setting.published),
        marks: denial === 'nsec' && verifier.isPlain !== true,
        labels,
      };
      const wanted = new WantedZone(random, zone, 8);
      const { rows, edit } = sign(wanted.names, APEX, denial, setting);
      for (let edits = 0; edits < EDITS; edits++) edit(wanted.edit());
      if (verifier.isPlain === true && !isPlainZone(rows.records())) continue;
      seen++;
      expect(complaints(verifier, APEX, rows.records()), `zone ${i}, ${denial}, ${words}`).toBe('');
    }
    expect(seen).toBe(ZONES);
  });
});

describe('zones with records of all types', () => {
  it.each(['nsec', 'nsec3'] as const)('are verified, signed with %s', (denial) => {
    const setting = KEYS['a KSK and a ZSK'] as (typeof KEYS)[string];
    for (const { zone } of readFixtureZones()) {
      const wanted = recordsByName(zone);
      wanted.get(zone.apex)?.push(...dnskeyRecords(zone.apex, setting.published));
      const { rows } = sign(wanted, zone.apex, denial, setting);
      expect(checkSigned(zone.apex, rows.records(), NOW)).toEqual([]);
      for (const verifier of VERIFIERS) {
        const { program, isPlain } = verifier;
        const apex = printName(zone.apex);
        // names of 127 labels; and BIND wants a DNSKEY set signed by a KSK, even where no zone begins
        const isExcused =
          (program === 'ldns-verify-zone' && apex === 'deep.test.') ||
          (program === 'dnssec-verify' && apex === 'dnssec.test.');
        if (isPlain === true || isExcused || !isInstalled(program)) continue;
        expect(complaints(verifier, zone.apex, rows.records()), apex).toBe('');
      }
    }
  });
});

function recordsByName({ nodes }: Zone): Map<Name, ZoneRecord[]> {
  const wanted = new Map<Name, ZoneRecord[]>();
  for (const { name, sets } of nodes.values()) {
    const records = [...sets.values()].flatMap(({ owner, type, ttl, rdata }) =>
      rdata.map((octets) => ({ owner, type, ttl, rdata: octets })),
    );
    if (records.length > 0) wanted.set(name, records);
  }
  return wanted;
}
