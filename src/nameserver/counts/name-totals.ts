// The most frequent names in the samples of one minute, several per zone. If a zone has more names than the limit, a new
// name replaces the rarest and inherits its count as `doubt` ("space saving", Metwally et al. 2005). Frequent names
// therefore stay, even among many random ones. Names of one zone displace those of another only if there are too many zones.

import type { Name } from '../../dns/name.ts';
import { SAMPLED } from './zone-counts.ts';

const MOST_ZONES = 1024;
const MOST_OF_ZONE = 16;
/** Maximum number of names that `take` returns. */
const MOST_NAMES = 512;

export interface SampledName {
  readonly zoneId: number;
  readonly name: Name;
  /** Estimated number of queries for the name. */
  readonly count: number;
}

interface Seen {
  count: number;
  doubt: number;
}

interface ZoneNames {
  samples: number;
  readonly names: Map<Name, Seen>;
}

export class NameTotals {
  readonly #zones = new Map<number, ZoneNames>();

  add(zoneId: number, name: Name): void {
    let zone = this.#zones.get(zoneId);
    if (zone === undefined) {
      if (this.#zones.size >= MOST_ZONES)
        this.#zones.delete(rarest(this.#zones, ({ samples }) => samples).key);
      zone = { samples: 0, names: new Map() };
      this.#zones.set(zoneId, zone);
    }
    zone.samples++;
    const seen = zone.names.get(name);
    if (seen !== undefined) {
      seen.count++;
      return;
    }
    let doubt = 0;
    if (zone.names.size >= MOST_OF_ZONE) {
      const { key, value } = rarest(zone.names, ({ count }) => count);
      zone.names.delete(key);
      doubt = value.count;
    }
    zone.names.set(name, { count: doubt + 1, doubt });
  }

  /** Returns and clears the names: the first name of each zone before any second one, zones with the most queries first. */
  take(): SampledName[] {
    const ranked: { readonly rank: number; readonly zoneSamples: number; readonly name: SampledName }[] = [];
    for (const [zoneId, { samples, names }] of this.#zones) {
      const sorted = [...names].sort(([, a], [, b]) => b.count - b.doubt - (a.count - a.doubt));
      for (const [rank, [name, { count, doubt }]] of sorted.entries()) {
        ranked.push({
          rank,
          zoneSamples: samples,
          name: { zoneId, name, count: (count - doubt) * SAMPLED },
        });
      }
    }
    this.#zones.clear();
    ranked.sort((a, b) => a.rank - b.rank || b.zoneSamples - a.zoneSamples);
    return ranked.slice(0, MOST_NAMES).map(({ name }) => name);
  }
}

function rarest<K, V>(map: ReadonlyMap<K, V>, measure: (value: V) => number): { key: K; value: V } {
  let found: { key: K; value: V } | undefined;
  for (const [key, value] of map) {
    if (found === undefined || measure(value) < measure(found.value)) found = { key, value };
  }
  return found as { key: K; value: V };
}
