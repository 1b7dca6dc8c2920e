// The set as zone files for servers that read them. All zones of a recipe share one file with relative names: a million
// files would measure the file system.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ZoneSet } from '../zones/zone-set.ts';

export interface ZoneFilePlace {
  /** Without the final dot. */
  readonly apex: string;
  readonly file: string;
}

export function* writeZoneFiles(set: ZoneSet, directory: string): Generator<ZoneFilePlace> {
  for (const [index, { apex, text }] of set.zones.entries()) {
    const file = join(directory, `${index}.zone`);
    writeFileSync(file, text);
    yield { apex: apex.slice(0, -1), file };
  }
  if (set.recipe === undefined) return;
  const file = join(directory, 'recipe.zone');
  writeFileSync(file, set.recipe.text);
  for (let i = 0; i < set.recipe.count; i++) yield { apex: set.recipe.apexOf(i).slice(0, -1), file };
}

/** Writes a configuration that may have millions of lines. */
export function writeConfiguration(
  file: string,
  head: readonly string[],
  zones: Iterable<ZoneFilePlace>,
  zoneLines: (zone: ZoneFilePlace) => string,
): void {
  writeFileSync(file, `${head.join('\n')}\n`);
  let waiting: string[] = [];
  const flush = () => {
    writeFileSync(file, waiting.join(''), { flag: 'a' });
    waiting = [];
  };
  for (const zone of zones) {
    waiting.push(`${zoneLines(zone)}\n`);
    if (waiting.length === 50_000) flush();
  }
  flush();
}
