// Table of all settings, in the order of error messages and of the documentation.

import { ACME_SETTINGS } from './acme-settings.ts';
import { ANALYTICS_SETTINGS } from './analytics-settings.ts';
import { API_SETTINGS } from './api-settings.ts';
import { FLEET_SETTINGS } from './fleet-settings.ts';
import { MONEY_SETTINGS } from './money-settings.ts';
import { NAMESERVER_SETTINGS } from './nameserver-settings.ts';
import { OIDC_SETTINGS } from './oidc-settings.ts';
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
  ...OIDC_SETTINGS,
  ...MONEY_SETTINGS,
  ...WORKER_SETTINGS,
  ...ACME_SETTINGS,
  ...ANALYTICS_SETTINGS,
  ...REQUEST_SETTINGS,
  ...VANTAGE_SETTINGS,
} as const;

const EVERY_SETTING: readonly Setting<unknown>[] = Object.values(SETTINGS);

/** Name of each secret setting, by the name of the variable with the path of its file. */
export const SECRET_OF_FILE: ReadonlyMap<string, string> = new Map(
  EVERY_SETTING.filter(({ isSecret }) => isSecret).map(({ name }) => [`${name}_FILE`, name]),
);

/** Readers of each environment variable: the settings, and the files of secrets. */
export const READERS_OF: ReadonlyMap<string, readonly Reader[]> = new Map(
  EVERY_SETTING.flatMap(({ name, readers, isSecret }) => [
    [name, readers] as const,
    ...(isSecret ? [[`${name}_FILE`, readers] as const] : []),
  ]),
);
