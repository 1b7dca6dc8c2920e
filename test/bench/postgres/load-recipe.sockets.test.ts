// Zones that Postgres generates from a recipe equal those loaded from a zone file.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { loadRecipe } from '../../../bench/postgres/load-recipe.ts';
import { makeRecipeZones, RECIPE, RECIPE_RECORDS, recipeName } from '../../../bench/zones/recipe-zones.ts';
import { parseName } from '../../../src/dns/name.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { listZones } from '../../support/database/list-zones.ts';

const ZONES = 12;

let database: TestDatabase;
beforeAll(async () => {
  database = await createDatabase();
  const { recipe } = makeRecipeZones(ZONES);
  if (recipe !== undefined) await loadRecipe(database.url, recipe);
});
afterAll(() => database.drop());

const recordsOf = (index: number) =>
  parseZoneFile(RECIPE, { origin: parseName(`${recipeName(index)}.`) }).records;
const inOrder = (records: readonly ZoneRecord[]) =>
  records
    .map(({ owner, type, ttl, rdata }) => [owner, type, ttl, Buffer.from(rdata).toString('hex')].join())
    .sort();

it('every zone exists, with the records of its own name', async () => {
  expect(await listZones(database.db)).toHaveLength(ZONES);
  for (const index of [0, 7, ZONES - 1]) {
    const zone = await loadZone(database.db, parseName(`${recipeName(index)}.`));
    expect(zone?.records).toHaveLength(RECIPE_RECORDS);
    expect(inOrder(zone?.records ?? [])).toEqual(inOrder(recordsOf(index)));
  }
});

it('saving the same zone as a file finds nothing to change', async () => {
  const zone = { apex: parseName(`${recipeName(3)}.`), records: recordsOf(3) };
  const [saved] = await saveZones(database.db, [zone], { source: 'test' });
  expect(saved).toMatchObject({ outcome: 'unchanged', records: RECIPE_RECORDS });
});
