// A large zone is signed in pieces while it is served and edited; killed at any piece, it goes on.

import { sql } from 'kysely';
import { beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { disableSigning, unsignInPieces } from '../../../src/store/signing/disable-signing.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { saveZones } from '../../../src/store/zones/save-zones.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { BY, expectPublished, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX, edit } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const NAMES = 1200;
const ZONE = parseName('big.test.');
const NEVER = new AbortController().signal;

const { db } = sharedDatabase();

beforeEach(async () => {
  useSecrets(db);
});

function bigZone(): ZoneRecord[] {
  const names = Array.from(
    { length: NAMES },
    (_, i) => `${i % 7 === 0 ? `n${i}.deep` : `n${i}`} A 192.0.2.1`,
  );
  const lines = ['@ SOA ns. host. 7 2 3 4 5', '@ NS ns.else.example.', 'cut NS ns.cut', 'ns.cut A 192.0.2.2'];
  return recordsOf([...lines, ...names].join('\n'), 'big.test.');
}

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i));

const phase = async () =>
  (await sql<{ phase: string }>`select phase from signed_zones`.execute(db)).rows[0]?.phase;

/** Acts before each piece. */
function betweenPieces(act: (piece: number) => void): AbortSignal {
  let piece = 0;
  return Object.assign(new AbortController().signal, { throwIfAborted: () => act(piece++) });
}

describe.each(['nsec', 'nsec3'] as const)('with %s', (denial) => {
  test('an operator zone is unsigned until its last piece is written, and whole then; so it is unsigned again', async () => {
    await saveZones(db, [{ apex: ZONE, records: bigZone() }], { source: 'test' });
    const { kind, signed } = await enabled(db, { zoneName: 'big.test.' }, { denial });
    expect(kind).toBe('signing');
    const killed = betweenPieces((piece) => {
      if (piece === 3) throw new Error('killed');
    });
    await expect(signInPieces(db, signed.id, killed)).rejects.toThrow('killed');
    expect(await phase()).toBe('signing');
    const between = (await loadZone(db, ZONE))?.records ?? [];
    expect(between.some(({ type }) => type === 46)).toBe(true);
    expect(between.filter(({ owner, type }) => owner === ZONE && ![2, 6].includes(type))).toEqual([]);
    expect(await signInPieces(db, signed.id, NEVER)).toBe('signed');
    expect(await signatureFaults(db, ZONE)).toEqual([]);
    expect(await signInPieces(db, signed.id, NEVER)).toBe('gone');

    expect(await disableSigning(db, { zoneName: 'big.test.' }, BY)).toBe('unsigning');
    const apexTypes = (await loadZone(db, ZONE))?.records
      .filter(({ owner }) => owner === ZONE)
      .map(({ type }) => type);
    expect(apexTypes).toEqual([2, 6]);
    await unsignInPieces(db, signed.id, NEVER);
    expect(await phase()).toBe('off');
    expect((await loadZone(db, ZONE))?.records).toHaveLength(bigZone().length);
  });

  test('edits meanwhile', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const domainId = (await newDomain(db, accountId)).id;
    const names = Array.from({ length: NAMES }, (_, i) =>
      i % 100 === 50 ? `ns.cut${i / 100 - 0.5}` : `n${i}`,
    );
    const { ops } = await saved(db, domainId, edit({ create: names.map((name) => `${name} A 192.0.2.1`) }));
    const { signed } = await enabled(db, { domainId }, { denial });
    const idOf = (name: number) => ops[name]?.after?.id as number;
    const edits: Promise<unknown>[] = [];
    const signal = betweenPieces((piece) => {
      edits.push(
        saved(
          db,
          domainId,
          edit({
            delete: [idOf(piece * 9), idOf(NAMES - 1 - piece)],
            update: [[idOf(piece * 9 + 1), { destination: '192.0.2.9' }]],
            create: [
              `a${piece}.b A 192.0.2.3`,
              `c${piece}.n${piece * 9 + 3} A 192.0.2.4`,
              `cut${piece} NS ns.cut${piece}.example.com`, // what is below was signed, or will be by a later piece
            ],
          }),
        ),
      );
    });
    expect(await signInPieces(db, signed.id, signal)).toBe('signed');
    await Promise.all(edits);
    expect(edits.length).toBeGreaterThan(5);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
  });

  test.each([90, 1100])('edits meanwhile of %i names, which are signed a few at a time', async (count) => {
    const domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    const { ops } = await saved(
      db,
      domainId,
      edit({ create: lines(300, (i) => `n${i}.a${i % 9} A 192.0.2.1`) }),
    );
    const { signed } = await enabled(db, { domainId }, { denial });
    const ids = ops.map(({ after }) => after?.id as number);
    const edits: Promise<unknown>[] = [];
    const signal = betweenPieces((piece) => {
      if (piece !== 1) return;
      const create = lines(count, (i) => `m${i}.a${i % 7} A 192.0.2.3`);
      edits.push(saved(db, domainId, edit({ create, delete: ids.slice(0, 60) })));
    });
    expect(await signInPieces(db, signed.id, signal)).toBe('signed');
    await Promise.all(edits);
    expect(edits).toHaveLength(1);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
  });

  test('two zones at once, and one whose process stops', async () => {
    const names = ['one.test.', 'two.test.', 'three.test.'];
    const zones = names.map((name) => ({
      apex: parseName(name),
      records: recordsOf(
        ['@ SOA ns. h. 7 2 3 4 5', '@ NS ns.', ...lines(260, (i) => `n${i} A 192.0.2.1`)].join('\n'),
        name,
      ),
    }));
    await saveZones(db, zones, { source: 'test' });
    const begun = [];
    for (const zoneName of names) begun.push((await enabled(db, { zoneName }, { denial })).signed.id);
    const [one, two, three] = begun as [number, number, number];
    const stopping = new AbortController();
    const stopped = signInPieces(db, three, stopping.signal);
    stopping.abort(new Error('the process stops'));
    const [first, second] = [signInPieces(db, one, NEVER), signInPieces(db, two, NEVER)];
    await expect(stopped).rejects.toThrow('the process stops');
    expect(await Promise.all([first, second])).toEqual(['signed', 'signed']);
    for (const { apex } of zones.slice(0, 2)) expect(await signatureFaults(db, apex)).toEqual([]);
    const left = (await loadZone(db, parseName('three.test.')))?.records.filter(
      ({ owner }) => owner === zones[2]?.apex,
    );
    expect(left?.map(({ type }) => type)).toEqual([2, 6]);
    expect(await signInPieces(db, three, NEVER)).toBe('signed');
    expect(await signatureFaults(db, parseName('three.test.'))).toEqual([]);
  });
});
