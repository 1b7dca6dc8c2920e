// Zones and record sets from zone-file text, for tests. A problem in the text throws.

import { type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone, ZoneRecord, Zones } from '../../../src/zone/zone.ts';

/** Returns the records as written, in any zone or none. `origin` is the origin for relative names and `@`. */
export function recordsOf(text: string, origin = '.'): ZoneRecord[] {
  const parsed = parseZoneFile(`$ORIGIN ${origin}\n${text}`, { origin: ROOT, defaultTtlSeconds: 300 });
  const [problem] = parsed.problems;
  if (problem !== undefined) throw new Error(`line ${problem.line - 1}: ${problem.message}\n${text}`);
  return parsed.records;
}

export function zoneOf(origin: string, text: string): Zone {
  const apex = parseName(origin, ROOT);
  const built = buildZone(apex, recordsOf(text, origin));
  if (built.kind === 'refused') throw new Error(built.problems.map((problem) => problem.message).join('\n'));
  return built.zone;
}

export function zonesOf(...zones: readonly Zone[]): Zones & ReadonlyMap<Name, Zone> {
  return new Map(zones.map((zone) => [zone.apex, zone]));
}
