import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { gatherNames, gatherZones } from '../../../src/store/checks/gather-checks.ts';
import { loadHeldZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { loadCheckedName } from '../../support/database/saved-checks.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db } = keptDatabase();
let statements = 0;
const counted = db.withPlugin({
  transformQuery({ node }) {
    statements++;
    return node;
  },
  transformResult: async ({ result }) => result,
});

test('names that are requested during a load share the next statement, and each fails only for its own reason', async () => {
  const [me, other] = [await newAccount(db, 'me@example.org'), await newAccount(db, 'other@example.org')];
  const ids: number[] = [];
  for (const [owner, name] of [
    [me, 'a.example.'],
    [other, 'a.example.'],
    [me, 'b.example.'],
  ] as const)
    ids.push((await newDomain(db, owner, name, { exempt: false })).id);
  await db.updateTable('domains').set({ status: 'active' }).execute(); // otherwise each loads the domains inside it
  const asked = [...ids, 999_999, ids[0] as number];
  const load = gatherNames(counted);
  statements = 0;
  const loaded = await Promise.all(asked.map(load));
  expect(statements).toBe(2);
  for (const [index, id] of asked.entries())
    expect(loaded[index]?.claims.claims.map((claim) => claim.id)).toEqual(
      (await loadCheckedName(db, id))?.claims.claims.map((claim) => claim.id),
    );
  const settled = await Promise.allSettled([load(999_999), load(Number.NaN), load(ids[2] as number)]);
  expect(settled.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
});

test('lookups of the fleet’s own zones above several domains share a statement', async () => {
  const by = { source: 'test', actor: 'me' } as const;
  const saved = ['lab.', 'x.lab.'].map((apex) => ({
    apex: parseName(apex),
    records: recordsOf('@ 60 SOA a. b. 1 1 1 1 60\n@ NS a.\n', apex),
  }));
  await saveZones(db, saved, by);
  const find = gatherZones(counted);
  const names = ['a.test.', 'b.lab.', 'b.x.lab.', 'lab.'].map((name) => parseName(name));
  statements = 0;
  const held = await Promise.all(names.map((name) => loadHeldZone(db, name, find)));
  expect(statements).toBe(2);
  expect(held.map((zone) => zone?.zone)).toEqual(
    [undefined, 'lab.', 'x.lab.', undefined].map((apex) => apex && parseName(apex)),
  );
});
