// The demo: one small operator zone, loaded into a database that has never been started on and has no zone. Only once:
// whoever unloads it does not get it back.

import { readFileSync } from 'node:fs';
import { parseZoneFile, type ZoneFile } from '../dns/parse-zone-file.ts';
import type { Database } from '../store/database.ts';
import { isFirstStart, rememberStart } from '../store/first-start.ts';
import { saveZones } from '../store/save-zones.ts';

export const DEMO_APEX = 'zonefleet.example.';
/** A name of it that has an A record. */
export const DEMO_NAME = 'www.zonefleet.example';

export function readDemo(): ZoneFile {
  return parseZoneFile(readFileSync(new URL('demo.zone', import.meta.url), 'utf8'), { file: 'demo.zone' });
}

/** Loading it twice, after a kill in between, changes nothing. */
export async function loadDemoOnce(db: Database): Promise<void> {
  if (await isFirstStart(db)) {
    const { origin, records } = readDemo();
    await saveZones(db, [{ apex: origin, records }], { source: 'demo' });
  }
  await rememberStart(db);
}
