// Builds the address sets that regions publish from their edges, together with the previously published sets.

import { TYPE } from '../../dns/type-codes.ts';
import {
  type EdgeSets,
  idOfSet,
  MOST_REGIONS,
  MOST_SET_ADDRESSES,
  type RegionSets,
  rdataOfSet,
} from '../../zone/edge-sets.ts';
import type { Members, RegisteredEdge } from './plan-edge-sets.ts';

export function nextEdgeSets(
  edges: readonly RegisteredEdge[],
  members: Members,
  countries: EdgeSets['countries'],
  before: EdgeSets,
): EdgeSets {
  const regions: RegionSets[] = [];
  for (const region of Object.keys(members).sort().slice(0, MOST_REGIONS)) {
    const here = edges.filter((edge) => edge.region === region && members[region]?.includes(edge.name));
    here.sort((a, b) => (a.name < b.name ? -1 : 1));
    const known = before.regions.find((one) => one.region === region);
    const v4 = newest(
      TYPE.A,
      here.flatMap((edge) => edge.v4),
      known?.v4 ?? [],
    );
    const v6 = newest(
      TYPE.AAAA,
      here.flatMap((edge) => edge.v6),
      known?.v6 ?? [],
    );
    if (v4.length + v6.length > 0) regions.push({ region, v4, v6 });
  }
  const used = new Set(regions.map(({ region }) => region));
  const placed = Object.fromEntries(
    Object.entries(countries)
      .filter(([, region]) => used.has(region))
      .sort(([a], [b]) => (a < b ? -1 : 1)),
  );
  const isSame = print(regions) === print(before.regions) && isSameMap(placed, before.countries);
  return isSame ? before : { version: before.version + 1, regions, countries: placed };
}

/**
 * Returns the set of these addresses followed by the previous different one. Returns an empty list if the region has none
 * of the family.
 */
function newest(type: number, addresses: readonly string[], before: readonly (readonly string[])[]) {
  const wanted = [...new Set(addresses)].slice(0, MOST_SET_ADDRESSES);
  if (wanted.length === 0) return [];
  const key = (texts: readonly string[]) =>
    Buffer.from(idOfSet(type, rdataOfSet(type, texts))).toString('hex');
  const [current] = before;
  if (current !== undefined && key(current) === key(wanted)) return [...before];
  return current === undefined ? [wanted] : [wanted, current];
}

function print(regions: readonly RegionSets[]): string {
  return JSON.stringify(regions.map(({ region, v4, v6 }) => [region, v4, v6]));
}

function isSameMap(a: EdgeSets['countries'], b: EdgeSets['countries']): boolean {
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => a[key] === b[key]);
}
