// The released versions: their commits, because a clone may lack the tags, and their newest migrations.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './sources.ts';

interface Release {
  readonly version: string;
  readonly commit: string;
  readonly schema: string;
}

/** Oldest release first. */
export const RELEASES: readonly Release[] = JSON.parse(
  readFileSync(join(ROOT, 'fixtures/releases.json'), 'utf8'),
);

export function lastRelease(): Release {
  return RELEASES.at(-1) as Release;
}
