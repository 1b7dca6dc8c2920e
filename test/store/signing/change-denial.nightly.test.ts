// A signed zone changes from NSEC to NSEC3 and back while it is served and edited: at every version that a node can have it is
// whole, and what is taken back or killed in between leaves nothing behind.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { addChain } from '../../../src/store/signing/add-chain.ts';
import { changeDenial } from '../../../src/store/signing/change-denial.ts';
import { claimDuePieces } from '../../../src/store/signing/claim-due-zones.ts';
import { removeChain } from '../../../src/store/signing/remove-chain.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import { BY, expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

/** With signatures and denials they are more than one transaction signs. */
const NAMES = 1010;
const NEVER = new AbortController().signal;
const OPERATOR = { zoneName: 'big.test.' };

const { db } = sharedDatabase();

beforeEach(async () => {
  useSecrets(db);
});

const stored = async () =>
  (
    await sql<{ id: number; denial: string; change: string | null }>`
      select id, denial, denial_change as change from signed_zones`.execute(db)
  ).rows[0];

const types = async (apex = APEX) => {
  const { records } = (await loadZone(db, apex)) ?? { records: [] };
  const count = (type: number) => records.filter((record) => record.type === type).length;
  return { nsec: count(TYPE.NSEC), nsec3: count(TYPE.NSEC3), parameters: count(TYPE.NSEC3PARAM) };
};

/** Acts before each piece. */
function betweenPieces(act: (piece: number) => void): AbortSignal {
  let piece = 0;
  return Object.assign(new AbortController().signal, { throwIfAborted: () => act(piece++) });
}

describe.each([
  ['nsec', 'nsec3'],
  ['nsec3', 'nsec'],
] as const)('from %s to %s', (from, to) => {
  test('a small zone has the other chain in place of its own with one change', async () => {
    const domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    await saved(
      db,
      domainId,
      edit({ create: ['www A 198.51.100.1', '*.w A 198.51.100.1', 'sub NS ns.example.net'] }),
    );
    await enabled(db, { domainId }, { denial: from });
    const order = { ...BY, denial: to };
    const changed = await changeDenial(db, { domainId }, order);
    expect(changed).toEqual({ kind: 'updated', changeId: expect.any(Number) });
    expect(await stored()).toMatchObject({ denial: to, change: null });
    expect((await types())[from]).toBe(0);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
    expect(await changeDenial(db, { domainId }, order)).toEqual({ kind: 'updated' });
    const { rows } = await sql`select id from domain_changes where operation = 'dnssec' order by id`.execute(
      db,
    );
    expect(rows.at(-1)).toEqual({ id: (changed as { changeId: number }).changeId });
  });

  test('killed at a piece it goes on; taken back, nothing is left of it', async () => {
    const apex = parseName('big.test.');
    const lines = Array.from({ length: NAMES }, (_, i) => `n${i} A 192.0.2.1`);
    const zone = (ttl: number) =>
      recordsOf(
        [`@ SOA ns. host. 7 2 3 4 ${ttl}`, '@ NS ns.else.example.', ...lines].join('\n'),
        'big.test.',
      );
    await saveZones(db, [{ apex, records: zone(5) }], { source: 'test' });
    const { signed } = await enabled(db, OPERATOR, { denial: from });
    await signInPieces(db, signed.id, NEVER);
    const back = { ...BY, denial: from };
    await changeDenial(db, OPERATOR, { ...BY, denial: to });
    const killed = betweenPieces((piece) => {
      if (piece === 3) throw new Error('killed');
    });
    await expect(addChain(db, signed.id, killed)).rejects.toThrow('killed');
    expect((await types(apex))[to]).toBeGreaterThan(100);
    expect((await types(apex)).parameters).toBe(from === 'nsec3' ? 1 : 0);
    expect(await changeDenial(db, OPERATOR, back)).toMatchObject({ kind: 'updated', inPieces: signed.id });
    expect(await addChain(db, signed.id, NEVER)).toBe('gone');
    expect(await claimDuePieces(db, 1)).toEqual([{ id: signed.id, name: 'big.test.', work: 'removing' }]);
    const killedAgain = betweenPieces((piece) => {
      if (piece === 1) throw new Error('killed');
    });
    await expect(removeChain(db, signed.id, killedAgain)).rejects.toThrow('killed');

    // a change of mind in the middle, and a file whose SOA has another TTL for denials
    await changeDenial(db, OPERATOR, { ...BY, denial: to });
    let isLoaded = false;
    const loading = betweenPieces((piece) => {
      if (piece === 1)
        void saveZones(db, [{ apex, records: zone(9) }], { source: 'test' }).then(() => (isLoaded = true));
    });
    expect(await addChain(db, signed.id, loading)).toBe('changed');
    await expect.poll(() => isLoaded).toBe(true);
    expect(await signatureFaults(db, apex)).toEqual([]);
    await removeChain(db, signed.id, NEVER);
    expect(await signatureFaults(db, apex)).toEqual([]);
    expect((await types(apex))[from]).toBe(0);
    expect(await changeDenial(db, OPERATOR, back)).toMatchObject({ inPieces: signed.id });
    expect(await changeDenial(db, OPERATOR, { ...BY, denial: to })).toMatchObject({ inPieces: signed.id });
    expect(await stored()).toMatchObject({ denial: to, change: 'removing' });
  });
});

test('what is not signed, or has no room for hashes, is refused', async () => {
  const account = await newAccount(db, 'a@example.org');
  const domainId = (await newDomain(db, account)).id;
  const order = { ...BY, denial: 'nsec3' } as const;
  expect(await changeDenial(db, { domainId }, order)).toMatchObject({ kind: 'refused', code: 'wrong_state' });
  expect(await changeDenial(db, { domainId: domainId + 9 }, order)).toEqual({ kind: 'absent' });
  const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(45)}.test`;
  const longId = (await newDomain(db, account, `${long}.`)).id;
  await enabled(db, { domainId: longId });
  expect(await changeDenial(db, { domainId: longId }, order)).toMatchObject({ code: 'wrong_state' });
  await enabled(db, { domainId });
  expect(await changeDenial(db, { domainId }, { ...order, ownerId: account + 9 })).toEqual({
    kind: 'absent',
  });
  await sql`
    insert into nodes (name, instance, started_at, loaded, zones, records, abilities, seen_at)
    values ('old', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{}', clock_timestamp())`.execute(db);
  expect(await changeDenial(db, { domainId }, order)).toMatchObject({ code: 'dnssec_unavailable' });
});
