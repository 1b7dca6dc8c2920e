// Table of all settings, in the order of error messages and of the documentation.

import { ACME_SETTINGS } from './acme-settings.ts';
import { ANALYTICS_SETTINGS } from './analytics-settings.ts';
import { API_SETTINGS } from './api-settings.ts';
import { FLEET_SETTINGS } from './fleet-settings.ts';
import { MONEY_SETTINGS } from './money-settings.ts';
import { NAMESERVER_SETTINGS } from './nameserver-settings.ts';
import { PEOPLE_SETTINGS } from './people-settings.ts';
import { REQUEST_SETTINGS } from './request-settings.ts';
import type { Reader, Setting } from './setting.ts';
import { VANTAGE_SETTINGS } from './vantage-settings.ts';
import { WORKER_SETTINGS } from './worker-settings.ts';

export const SETTINGS = {
  ...FLEET_SETTINGS,
  ...NAMESERVER_SETTINGS,
  ...API_SETTINGS,
  ...PEOPLE_SETTINGS,
  ...MONEY_SETTINGS,
  ...WORKER_SETTINGS,
  ...ACME_SETTINGS,
  ...ANALYTICS_SETTINGS,
  ...REQUEST_SETTINGS,
  ...VANTAGE_SETTINGS,
} as const;

/** Readers of each setting, by the name of its environment variable. */
export const READERS_OF: ReadonlyMap<string, readonly Reader[]> = new Map(
  Object.values(SETTINGS).map(({ name, readers }: Setting<unknown>) => [name, readers]),
);
