// The edited zones: many small ones, and one with 100,000 names.

import { makeOneZone, type OneZone } from '../zones/one-zone.ts';
import { makeRecipeZones, recipeName } from '../zones/recipe-zones.ts';
import type { ZoneSet } from '../zones/zone-set.ts';

const SMALL_ZONES = 100_000;
const LARGE_ZONE_NAMES = 100_000;
/** Prime to the number of zones: consecutive edits hit zones far apart, and all are hit before one is hit again. */
const STEP = 7919;

export interface EditSet {
  readonly set: ZoneSet;
  readonly smallZones: number;
  readonly large: OneZone;
  smallTarget(n: number): { zone: string; owner: string };
  largeTarget(n: number): { zone: string; owner: string };
}

export function makeEditSet(zones = SMALL_ZONES): EditSet {
  const small = makeRecipeZones(zones);
  const names = Math.min(LARGE_ZONE_NAMES, zones);
  const large = makeOneZone('large', names);
  return {
    set: {
      ...small,
      name: `edits_${zones}`,
      zones: large.set.zones,
      records: small.records + large.set.records,
    },
    smallZones: zones,
    large,
    smallTarget(n) {
      const name = `${recipeName((n * STEP) % zones)}.`;
      return { zone: name, owner: `www.${name}` };
    },
    largeTarget: (n) => ({ zone: 'large.test.', owner: `${large.hostName((n * STEP) % (names >> 1))}.` }),
  };
}
