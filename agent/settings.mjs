// @ts-check
// Loads and validates the operator's settings from a JSON file. The token is in a separate file.

import { readFileSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';

/**
 * @typedef {{
 *   api: string,
 *   tokenFile: string,
 *   state: string,
 *   listen: { http: string[], https: string[] },
 *   statusPort: number,
 *   nginx: string,
 *   user: string | undefined,
 *   modules: string,
 *   coreRules: string | undefined,
 *   countries: { file: string, field: string[] } | undefined,
 *   trustedProxies: string[],
 *   resolvers: string[],
 *   allowOrigins: string[],
 *   denyOrigins: string[],
 *   maxBody: string,
 *   rateZone: string,
 *   cacheZone: string,
 *   secondsBetweenReloads: number,
 *   secondsBetweenCacheReports: number,
 *   report: boolean,
 *   reportDisk: string,
 * }} Settings
 */

/** @type {Omit<Settings, 'api' | 'tokenFile' | 'state'>} */
const DEFAULTS = {
  listen: { http: ['80', '[::]:80'], https: ['443', '[::]:443'] },
  statusPort: 8079,
  nginx: '/usr/sbin/nginx',
  user: undefined,
  modules: '/usr/lib/nginx/modules',
  coreRules: undefined,
  countries: undefined,
  trustedProxies: [],
  resolvers: [],
  allowOrigins: [],
  denyOrigins: [],
  maxBody: '1g',
  rateZone: '256k',
  cacheZone: '1m',
  secondsBetweenReloads: 2,
  secondsBetweenCacheReports: 30,
  report: true,
  reportDisk: '1g',
};

const SIZE = /^[0-9]{1,6}[kmg]$/;
const UNITS = { k: 1024, m: 1024 ** 2, g: 1024 ** 3 };
/** Minimum space for some batches and for the log meanwhile. */
const LEAST_DISK = 16 * UNITS.m;

/** @param {string} path @returns {Settings} */
export function readSettings(path) {
  const given = JSON.parse(readFileSync(path, 'utf8'));
  const unknown = Object.keys(given).filter(
    (name) => !(name in DEFAULTS) && !['api', 'tokenFile', 'state'].includes(name),
  );
  if (unknown.length > 0) throw new Error(`${path}: unknown: ${unknown.join(', ')}`);
  const settings = { ...DEFAULTS, ...given };
  for (const name of ['api', 'tokenFile', 'state']) {
    if (typeof settings[name] !== 'string') throw new Error(`${path}: ${name} is required`);
  }
  const url = new URL(settings.api);
  const isHere = /^(127\.0\.0\.1|\[::1\]|localhost)$/.test(url.hostname);
  if (url.protocol !== 'https:' && !isHere)
    throw new Error(`${path}: api must be an https URL, or on this machine`);
  for (const name of ['maxBody', 'rateZone', 'cacheZone', 'reportDisk']) {
    if (!SIZE.test(settings[name])) throw new Error(`${path}: ${name} must be a size such as 256k`);
  }
  if (octetsOf(settings.reportDisk) < LEAST_DISK) throw new Error(`${path}: reportDisk must be at least 16m`);
  if (typeof settings.report !== 'boolean') throw new Error(`${path}: report must be true or false`);
  for (const place of [...settings.listen.http, ...settings.listen.https]) {
    if (!/^(?:[0-9.]+:|\[[0-9a-f:]+\]:)?[0-9]{1,5}$/.test(place))
      throw new Error(`${path}: not a valid listening address: ${place}`);
  }
  if (!isAbsolute(settings.state)) settings.state = resolve(settings.state);
  if (/["\\$\n]/.test(settings.state))
    throw new Error(`${path}: state must not contain ", \\, $ or line breaks: ${settings.state}`);
  return settings;
}

/** @param {string} size such as `256k` */
export function octetsOf(size) {
  return Number(size.slice(0, -1)) * UNITS[/** @type {keyof typeof UNITS} */ (size.slice(-1))];
}
