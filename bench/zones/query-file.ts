// Writes queries as a file for dnsperf.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

export function writeQueries(directory: string, name: string, lines: string): string {
  const file = join(directory, `${name}.txt`);
  writeFileSync(file, lines);
  return file;
}
