// Every writer leaves a signed domain consistent: each set has its signatures, and the denial chain is closed.

import fc from 'fast-check';
import { beforeEach, describe, expect, test } from 'vitest';
import { deleteDomain } from '../../../src/store/change/save-domain.ts';
import { saveEdit } from '../../../src/store/change/save-edit.ts';
import { saveRevert } from '../../../src/store/change/save-revert.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { parseEdit } from '../../../src/zone/edit/parse-edit.ts';
import { BY, expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { contentOf, expectReplay, letPeerTransfer } from '../../support/database/kept-history.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { anything, delegations } from '../../support/random/random-edits.ts';
import { scale } from '../../support/tests/scale.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';

const SEED = Number(process.env.ZONEFLEET_SEED ?? 15);
const EDITS = scale(1000, 60);

const { db, query } = sharedDatabase();
let accountId: number;
let domainId: number;
/** What a secondary had at the start. */
let transferred: Awaited<ReturnType<typeof contentOf>>;

beforeEach(async () => {
  await letPeerTransfer(db);
  await query`alter sequence records_id_seq restart`; // random edits use low record ids
  useSecrets(db);
  accountId = await newAccount(db, 'a@example.org');
  domainId = (await newDomain(db, accountId)).id;
  transferred = await contentOf(db, APEX);
});

/** Also by the differences that a secondary gets. */
async function expectWhole(): Promise<void> {
  await expectReplay(db, APEX, transferred);
  expect(await signatureFaults(db, APEX)).toEqual([]);
  await expectPublished(db, domainId);
}

const keysAt = async () =>
  (await loadZone(db, APEX))?.records
    .filter(({ type }) => type === 48)
    .map(({ rdata }) => Buffer.from(rdata).toString('base64'));

describe.each(['nsec', 'nsec3'] as const)('with %s', (denial) => {
  beforeEach(async () => {
    await saved(db, domainId, ['www A 198.51.100.1', 'x.y TXT x']);
    await enabled(db, { domainId }, { denial });
  });

  test.each([
    ['of every kind', anything],
    ['of delegations', delegations],
  ] as const)('random edits %s', async (_, { edit: made }) => {
    let written = 0;
    for (const text of fc.sample(made, { numRuns: EDITS, seed: SEED })) {
      const parsed = parseEdit(text, APEX);
      if (parsed.kind !== 'edit') continue;
      const without = () => undefined;
      const result = await saveEdit(db, { ...BY, domainId, edit: parsed.edit, without });
      if (result.kind !== 'saved') continue;
      written++;
      expect(await signatureFaults(db, APEX), JSON.stringify(text)).toEqual([]);
    }
    expect(written).toBeGreaterThan(5);
    await expectWhole();
  });

  test('concurrent edits', async () => {
    const names = Array.from({ length: 12 }, (_, i) => `n${(i * 7) % 12}`);
    await Promise.all(names.map((name) => saved(db, domainId, [`${name} A 192.0.2.1`])));
    await expectWhole();
  });

  test('many names in one edit that empty others, and add and remove zone cuts', async () => {
    const twenty = (lines: (i: number) => string[]) =>
      edit({ create: Array.from({ length: 20 }, (_, i) => lines(i)).flat() });
    const takeBack = async (changeId: number) => {
      expect((await saveRevert(db, { domainId, changeId, by: BY.by })).kind).toBe('saved');
      await expectWhole();
    };
    await saved(
      db,
      domainId,
      twenty((i) => [`stays.e${i} A 192.0.2.1`, `x.c${i} A 192.0.2.2`]),
    );
    const names = await saved(
      db,
      domainId,
      twenty((i) => [`goes.e${i} A 192.0.2.3`, `e${i} TXT x`, `a.f${i} A 192.0.2.4`]),
    );
    const cuts = await saved(
      db,
      domainId,
      twenty((i) => [`c${i} NS x.c${i}.example.com`]),
    );
    await expectWhole();
    await takeBack(cuts.changeId);
    await takeBack(names.changeId);
  });
});

test('another account that gets the name does not get the keys', async () => {
  await enabled(db, { domainId });
  const before = await keysAt();
  await deleteDomain(db, { ...BY, domainId });
  const other = await newAccount(db, 'b@example.org');
  const domain = await newDomain(db, other);
  expect(await keysAt()).toEqual([]);
  await enabled(db, { domainId: domain.id });
  expect(await keysAt()).not.toEqual(before);
  expect(await signatureFaults(db, APEX)).toEqual([]);
});

test('a domain of which only the apex is served is signed with that apex', async () => {
  const claim = await newDomain(db, accountId, 'held.test.', { exempt: false });
  expect(claim.served).toBe('apex');
  await enabled(db, { domainId: claim.id });
  expect(await signatureFaults(db, claim.name)).toEqual([]);
  await saved(db, claim.id, edit({ create: ['www A 198.51.100.1'] }, claim.name));
  expect(await signatureFaults(db, claim.name)).toEqual([]);
  await expectPublished(db, claim.id);
});
