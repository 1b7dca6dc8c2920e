// A folder of zone files in the system's temporary directory, for code that reads files.

import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface ZoneFolder {
  readonly path: string;
  write(name: string, content: string | Uint8Array): string;
  remove(): void;
}

export function makeZoneFolder(): ZoneFolder {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'zonefleet-zones-')));
  return {
    path,
    write(name, content) {
      const file = join(path, name);
      writeFileSync(file, content);
      return file;
    },
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Returns a small valid zone. `more` are further lines, relative to the apex. */
export function smallZone(apex: string, more = '', serial = 1): string {
  return (
    `$ORIGIN ${apex}\n$TTL 300\n@ SOA ns hostmaster ${serial} 10000 2400 604800 1800\n@ NS ns\n` +
    `ns A 192.0.2.1\n${more}`
  );
}
