// Directory, memory limit and password of the embedded analytics store of `npm start`. The password is new at each start.

import { randomBytes } from 'node:crypto';
import { mkdirSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { giveDirectory, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const GIB = 1024 ** 3;
const PASSWORD_BYTES = 24;

interface AnalyticsPlace {
  readonly root: string;
  readonly places: readonly string[];
  readonly directory: string;
  readonly password: string;
  readonly memoryBytes: number;
  readonly user: ProcessUser | undefined;
}

export function analyticsOf(dataDirectory: string, user: ProcessUser | undefined): AnalyticsPlace {
  return {
    root: ROOT,
    places: [join(ROOT, 'node_modules/.cache/zonefleet-analytics'), join(dataDirectory, 'analytics-package')],
    directory: directoryOf(dataDirectory, user),
    password: randomBytes(PASSWORD_BYTES).toString('hex'),
    memoryBytes: Math.min(4 * GIB, Math.max(GIB, Math.floor(totalmem() / 4))),
    user,
  };
}

/** Only the engine's user may access it. */
function directoryOf(dataDirectory: string, user: ProcessUser | undefined): string {
  const directory = join(dataDirectory, 'analytics');
  if (user !== undefined)
    return giveDirectory([directory, join(rootPlaceOf(realpathSync(dataDirectory)), 'analytics')], user);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}
