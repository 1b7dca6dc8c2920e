import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openCountryDb } from '../../src/process/country-db.ts';

it('the database that is shipped knows where registries are', async () => {
  const countryOf = await openCountryDb('shipped');
  const asked = ['193.0.6.139', '2001:67c:2e8:22::c100:68b', '8.8.8.8', '192.0.2.1', '10.0.0.1', '::1'];
  expect(asked.map((address) => countryOf?.(address))).toEqual([
    'NL',
    'NL',
    'US',
    ...Array(3).fill(undefined),
  ]);
});

it('there may be none', async () => {
  expect(await openCountryDb(undefined)).toBeUndefined();
});

it('a file that is none is a fault of the settings', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'zonefleet-country-'));
  const path = join(folder, 'c.mmdb');
  await expect(openCountryDb({ path })).rejects.toThrow(/^COUNTRY_DB: .*c\.mmdb cannot be read: /);
  await writeFile(path, 'no database');
  await expect(openCountryDb({ path })).rejects.toThrow(/^COUNTRY_DB: .*c\.mmdb cannot be read: /);
  await rm(folder, { recursive: true });
});
