// Decides whether `npm start` runs the embedded analytics store, and returns its directory, memory limit and password. The
// password is new at each start.

import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, realpathSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { giveDirectory, type ProcessUser, rootPlaceOf } from '../process/run-as.ts';
import { StartFault } from '../process/start-fault.ts';

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

interface AnalyticsChoice {
  /** The settings of the same names. */
  readonly analytics: boolean | undefined;
  readonly analyticsUrl: string | undefined;
  /** True if `--analytics` was given. */
  readonly hasAnalytics: boolean;
  /** True if the store of an earlier start has data. */
  readonly hasStore: boolean;
}

/**
 * Returns true if `npm start` runs its own store. An unused machine does not download the engine unless the operator
 * requests it. Throws StartFault if `--analytics` contradicts a setting.
 */
export function wantsAnalytics({
  analytics,
  analyticsUrl,
  hasAnalytics,
  hasStore,
}: AnalyticsChoice): boolean {
  if (hasAnalytics && analytics === false)
    throw new StartFault('--analytics: expected ANALYTICS to be unset or on, not off');
  if (hasAnalytics && analyticsUrl !== undefined)
    throw new StartFault('--analytics: expected ANALYTICS_URL to be unset, because its store is used');
  if (analyticsUrl !== undefined) return false;
  return hasAnalytics || (analytics ?? hasStore);
}

/** Returns true if the engine has run on this data directory. */
export function hasAnalyticsStore(dataDirectory: string): boolean {
  if (!existsSync(dataDirectory)) return false;
  return placesOf(dataDirectory).some((place) => existsSync(join(place, 'store')));
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
  mkdirSync(dataDirectory, { recursive: true });
  const [directory, ofRoot] = placesOf(dataDirectory);
  if (user !== undefined) return giveDirectory([directory, ofRoot], user);
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return directory;
}

/** The second is for a user who cannot enter the data directory. */
function placesOf(dataDirectory: string): [string, string] {
  return [join(dataDirectory, 'analytics'), join(rootPlaceOf(realpathSync(dataDirectory)), 'analytics')];
}
