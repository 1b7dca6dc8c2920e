// Regions for tests: a table of countries that can be read at a glance, and a node that tells regions apart.

import type { EdgeSets } from '../../../src/zone/edge-sets.ts';
import {
  COUNTRY_TABLE_BYTES,
  CountryTable,
  countryNumber,
} from '../../../src/zone/image/find/country-table.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import { UNLIMITED } from './queries.ts';
import { answeringNode, type WrittenNode } from './test-node.ts';

/** 10.0.0.0/8 and 2000::/4 are in DE, 11.0.0.0/8 and 3000::/4 in US, 12.0.0.0/8 in JP; all others nowhere. */
function testCountries(): CountryTable {
  const table = new CountryTable(new SharedArrayBuffer(COUNTRY_TABLE_BYTES));
  const v4: Readonly<Record<number, string>> = { 10: 'DE', 11: 'US', 12: 'JP' };
  const v6: Readonly<Record<number, string>> = { 2: 'DE', 3: 'US' };
  const prefixes = (countries: Readonly<Record<number, string>>, bits: number) =>
    Array.from({ length: 1 << bits }, (_, i) => ({
      high: i << (32 - bits),
      low: 0,
      bits,
      country: countryNumber(countries[i] ?? ''),
    }));
  table.fill(prefixes(v4, 8), prefixes(v6, 4));
  return table;
}

/** DE has both families, US only IPv4; JP is a region that nobody has edges in. */
const SETS: EdgeSets = {
  version: 1,
  countries: { DE: 'eu', US: 'us', JP: 'asia' },
  regions: [
    { region: 'eu', v4: [['198.51.100.1', '198.51.100.2']], v6: [['2001:db8:e::1']] },
    { region: 'us', v4: [['203.0.113.9']], v6: [] },
  ],
};

export function regionalNode(zones: readonly Zone[], sets: EdgeSets | 'none' = SETS): WrittenNode {
  const node = answeringNode(zones, { ...UNLIMITED, countries: testCountries() });
  node.answerer.nowMs = 1_700_000_000_000;
  if (sets !== 'none') node.writer.putEdgeSets(sets);
  return node;
}
