// The zone files of fixtures/zones as zones.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { printName } from '../../../src/dns/name.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import type { Zone } from '../../../src/zone/zone.ts';
import type { ZoneText } from '../peers/peers.ts';

const FOLDER = join(import.meta.dirname, '../../../fixtures/zones');

interface FixtureZone extends ZoneText {
  readonly file: string;
  readonly zone: Zone;
}

/** `text` is printed from the records: what we serve, not what another program reads from the file. */
export function readFixtureZones(): FixtureZone[] {
  const files = readdirSync(FOLDER).filter((file) => file.endsWith('.zone'));
  return files.map((file) => {
    const include = (path: string) => readFileSync(join(FOLDER, path), 'utf8');
    const { origin, records, problems } = parseZoneFile(include(file), { file, include });
    if (problems[0] !== undefined) throw new Error(`${file}:${problems[0].line}: ${problems[0].message}`);
    const built = buildZone(origin, records);
    if (built.kind === 'refused') throw new Error(`${file}: ${built.problems[0]?.message}`);
    return { file, apex: printName(origin), text: printZoneFile(origin, records), zone: built.zone };
  });
}
