// Signed zones in an image: what is put there is what is read back, edits lead to what a zone built anew would be, and nothing
// of it is lost or has a fault.

import { describe, expect, it } from 'vitest';
import { sortNames } from '../../../src/dns/dnssec/sort-names.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { findImageFault } from '../../../src/zone/image/check/check-image.ts';
import { ImageWriter } from '../../../src/zone/image/write-image.ts';
import { recordsOfZone } from '../../../src/zone/records-of-zone.ts';
import type { RecordSet, Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, type Random, randomFrom, randomZone } from '../../support/random/random-zones.ts';
import { changesBetween, thinned } from '../../support/random/signed-zones.ts';
import { scale } from '../../support/tests/scale.ts';
import { readZone } from '../../support/zone/read-zone.ts';
import { DENIAL_STYLES, signedRecords, zoneOfRecords } from '../../support/zone/sign-zone.ts';
import { expectSame, smallImage, zoneInImage } from '../../support/zone/zone-image.ts';

const CONTENT = { id: 1, version: 1, mark: 1 };
const DNSSEC_TYPES = [TYPE.RRSIG, TYPE.NSEC, TYPE.NSEC3, TYPE.NSEC3PARAM, TYPE.DNSKEY];

/** NSEC3 that prove nothing have no order of their own. */
function inOrder(zone: Zone): Zone {
  const { idleDenials } = zone;
  if (idleDenials === undefined) return zone;
  const byOwner = new Map(idleDenials.map((set) => [set.owner, set]));
  return { ...zone, idleDenials: sortNames(byOwner.keys()).map((owner) => byOwner.get(owner) as RecordSet) };
}

/** Some of the zone's sets are others, or gone: then signed, and sometimes with signatures or denials missing. */
function randomState(random: Random, pool: readonly Zone[]): ZoneRecord[] {
  const zone = pick(random, pool);
  const sets = [...zone.nodes.values()].flatMap(({ sets }) => [...sets.values()]);
  const gone = new Set(sets.filter(({ owner }) => owner !== zone.apex && random() < 0.1));
  const records = sets
    .filter((set) => !gone.has(set))
    .flatMap(({ owner, type, ttl, rdata }) => rdata.map((one) => ({ owner, type, ttl, rdata: one })));
  if (buildZone(zone.apex, records).kind === 'refused') return [...recordsOfZone(zone)];
  return records;
}

describe('a signed zone in an image', () => {
  it('is what was put there, with its signatures and order, whatever it lacks', () => {
    for (let seed = 1; seed <= scale(400, 10); seed++) {
      const random = randomFrom(seed);
      const { zone } = randomZone(random, seed % 7 === 0 ? '.' : 'zone.example.', 5 + (seed % 60), []);
      const signed = signedRecords(zone.apex, [...recordsOfZone(zone)], pick(random, DENIAL_STYLES));
      const records = random() < 0.6 ? signed : thinned(random, signed, DNSSEC_TYPES);
      const built = zoneOfRecords(zone.apex, records);
      const image = smallImage();
      const writer = new ImageWriter(image);
      writer.put(built, CONTENT);
      expectSame(readZone(image, zone.apex), inOrder(built));
      expect(image.records).toBe(built.records);
      expect(findImageFault(image, writer.exportFree()), `seed ${seed}`).toBeUndefined();
      writer.remove(zone.apex);
      expect(image).toMatchObject({ zones: 0, records: 0, bytesUsed: smallImage().bytesUsed });
    }
  });

  it('is led by edits from any state to any other, each equal to a zone built anew', () => {
    for (let seed = 1; seed <= scale(150, 3); seed++) {
      const random = randomFrom(seed);
      const apexText = seed % 5 === 0 ? '.' : 'zone.example.';
      const pool = [0, 1].map(() => randomZone(random, apexText, 3 + (seed % 50), []).zone);
      const { apex } = pool[0] as Zone;
      const image = smallImage();
      const writer = new ImageWriter(image);
      let denial = pick(random, DENIAL_STYLES);
      let before = [...recordsOfZone(pool[0] as Zone)];
      writer.put(pool[0] as Zone, CONTENT);
      for (let version = 2; version < 14; version++) {
        if (random() < 0.15) denial = pick(random, DENIAL_STYLES);
        const unsigned = randomState(random, pool);
        const signed = random() < 0.1 ? unsigned : signedRecords(apex, unsigned, denial);
        const after = random() < 0.7 ? signed : thinned(random, signed, DNSSEC_TYPES);
        const edited = writer.edit(apex, { ...CONTENT, version }, changesBetween(before, after));
        expect(edited).toEqual({ kind: 'edited' });
        const fresh = smallImage();
        new ImageWriter(fresh).put(zoneOfRecords(apex, after), { ...CONTENT, version });
        expectSame(zoneInImage(image, apex), zoneInImage(fresh, apex));
        expect(image.records).toBe(fresh.records);
        writer.reclaim();
        expect(findImageFault(image, writer.exportFree()), `seed ${seed}`).toBeUndefined();
        before = after;
      }
      writer.remove(apex);
      expect(image).toMatchObject({ zones: 0, records: 0, bytesUsed: smallImage().bytesUsed });
    }
  });
});
