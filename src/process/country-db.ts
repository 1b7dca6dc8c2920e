// Looks up the country of an address in a MaxMind database in memory, for `dest_country`. The shipped database is made from
// the registries' published data (CC0).

import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { Reader, type Response } from 'mmdb-lib';
import type { CountryOf } from '../zone/records/country.ts';
import { StartFault } from './start-fault.ts';

const SHIPPED = '@ip-location-db/geo-whois-asn-country-mmdb/geo-whois-asn-country.mmdb';

/** Databases store the country in one of these members. */
interface Found {
  readonly country_code?: unknown;
  readonly country?: { readonly iso_code?: unknown };
}

/** Returns undefined if no database is configured. Throws StartFault. */
export async function openCountryDb(
  setting: 'shipped' | { readonly path: string } | undefined,
): Promise<CountryOf | undefined> {
  if (setting === undefined) return undefined;
  const path = setting === 'shipped' ? createRequire(import.meta.url).resolve(SHIPPED) : setting.path;
  const reader = await openReader(path);
  return (address) => {
    const { country_code, country } = (reader.get(address) ?? {}) as Found;
    const code = country_code ?? country?.iso_code;
    return typeof code === 'string' && /^[A-Z]{2}$/.test(code) ? code : undefined;
  };
}

async function openReader(path: string): Promise<Reader<Response>> {
  try {
    return new Reader<Response>(await readFile(path));
  } catch (error) {
    throw new StartFault(`COUNTRY_DB: ${path} cannot be read: ${(error as Error).message}`);
  }
}
