// Large zones are signed, unsigned and given another chain in pieces, while they are served and edited. Every version
// is consistent, and a killed process leaves nothing behind.

import { beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../src/dns/name.ts';
import { TYPE } from '../../src/dns/type-codes.ts';
import { changeDenial } from '../../src/store/signing/change-denial.ts';
import { claimDuePieces } from '../../src/store/signing/claim-due-zones.ts';
import { addChain, removeChain } from '../../src/store/signing/denial-chains.ts';
import { disableSigning, unsignInPieces } from '../../src/store/signing/disable-signing.ts';
import { signInPieces } from '../../src/store/signing/sign-pieces.ts';
import { loadZone } from '../../src/store/zones/load-zones.ts';
import { saveZones } from '../../src/store/zones/save-zones.ts';
import { serialIn } from '../../src/zone/serial.ts';
import type { ZoneRecord } from '../../src/zone/zone.ts';
import { BY, expectPublished, newAccount, newDomain, saved } from '../support/database/domains.ts';
import { enabled, signatureFaults, useSecrets } from '../support/database/signed-zones.ts';
import { sharedDatabase } from '../support/tests/shared-database.ts';
import { APEX } from '../support/zone/customer-records.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

/** With signatures and denial records, more than one transaction signs. */
const NAMES = 1200;
const ZONE = parseName('big.test.');
const NEVER = new AbortController().signal;
const OPERATOR = { zoneName: 'big.test.' };

const { db, query, value } = sharedDatabase();

beforeEach(async () => {
  useSecrets(db);
});

const stored = async () =>
  (
    await query<{ id: number; denial: string; change: string | null }>`
      select id, denial, denial_change as change from signed_zones`
  )[0];

const types = async (apex = APEX) => {
  const { records } = (await loadZone(db, apex)) ?? { records: [] };
  const count = (type: number) => records.filter((record) => record.type === type).length;
  return { nsec: count(TYPE.NSEC), nsec3: count(TYPE.NSEC3), parameters: count(TYPE.NSEC3PARAM) };
};

/** Calls `act` before each piece. */
function betweenPieces(act: (piece: number) => void): AbortSignal {
  let piece = 0;
  return Object.assign(new AbortController().signal, { throwIfAborted: () => act(piece++) });
}

function bigZone(): ZoneRecord[] {
  const names = lines(NAMES, (i) => `${i % 7 === 0 ? `n${i}.deep` : `n${i}`} A 192.0.2.1`);
  const apex = ['@ SOA ns. host. 7 2 3 4 5', '@ NS ns.else.example.', 'cut NS ns.cut', 'ns.cut A 192.0.2.2'];
  return recordsOf([...apex, ...names].join('\n'), 'big.test.');
}

const lines = (count: number, line: (i: number) => string) =>
  Array.from({ length: count }, (_, i) => line(i));

/** Checks that each change of the only zone, which began with serial 7, raised its serial by one. */
async function expectSerials(): Promise<void> {
  const [soa] = (await loadZone(db, ZONE))?.records.filter(({ type }) => type === TYPE.SOA) ?? [];
  const versions = await value<number>`select count(*)::integer from changes`;
  expect(serialIn(soa?.rdata as Uint8Array)).toBe(6 + (versions as number));
}

const phase = () => value<string>`select phase from signed_zones`;

describe.each(['nsec', 'nsec3'] as const)('signing in pieces with %s', (denial) => {
  test('an operator zone is answered as unsigned until its last piece is written, then completely signed, and back', async () => {
    await saveZones(db, [{ apex: ZONE, records: bigZone() }], { source: 'test' });
    const { kind, signed } = await enabled(db, OPERATOR, { denial });
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

    expect(await disableSigning(db, OPERATOR, BY)).toBe('unsigning');
    expect(
      (await loadZone(db, ZONE))?.records.filter(({ owner }) => owner === ZONE).map(({ type }) => type),
    ).toEqual([2, 6]);
    await unsignInPieces(db, signed.id, NEVER);
    expect(await phase()).toBe('off');
    expect((await loadZone(db, ZONE))?.records).toHaveLength(bigZone().length);
    await expectSerials();
  });

  test('concurrent edits', async () => {
    const accountId = await newAccount(db, 'a@example.org');
    const domainId = (await newDomain(db, accountId)).id;
    const nameOf = (i: number) => (i % 100 === 50 ? `ns.cut${i / 100 - 0.5}` : `n${i}`);
    const given = lines(NAMES, (i) => `${nameOf(i)} A 192.0.2.1`);
    const { ops } = await saved(db, domainId, given);
    const { signed } = await enabled(db, { domainId }, { denial });
    const idOf = (name: number) => ops[name]?.after?.id as number;
    const edits: Promise<unknown>[] = [];
    const signal = betweenPieces((piece) => {
      edits.push(
        saved(db, domainId, {
          delete: [idOf(piece * 9), idOf(NAMES - 1 - piece)],
          update: [[idOf(piece * 9 + 1), { destination: '192.0.2.9' }]],
          create: [
            `a${piece}.b A 192.0.2.3`,
            `c${piece}.n${piece * 9 + 3} A 192.0.2.4`,
            `cut${piece} NS ns.cut${piece}.example.com`, // names below were signed, or will be by a later piece
          ],
        }),
      );
    });
    expect(await signInPieces(db, signed.id, signal)).toBe('signed');
    await Promise.all(edits);
    expect(edits.length).toBeGreaterThan(5);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
  });

  test.each([90, 1100])('concurrent edits of %i names, which are signed a few at a time', async (count) => {
    const domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
    const given = lines(300, (i) => `n${i}.a${i % 9} A 192.0.2.1`);
    const { ops } = await saved(db, domainId, given);
    const { signed } = await enabled(db, { domainId }, { denial });
    const ids = ops.map(({ after }) => after?.id as number);
    const edits: Promise<unknown>[] = [];
    const signal = betweenPieces((piece) => {
      if (piece !== 1) return;
      const create = lines(count, (i) => `m${i}.a${i % 7} A 192.0.2.3`);
      edits.push(saved(db, domainId, { create, delete: ids.slice(0, 60) }));
    });
    expect(await signInPieces(db, signed.id, signal)).toBe('signed');
    await Promise.all(edits);
    expect(edits).toHaveLength(1);
    expect(await signatureFaults(db, APEX)).toEqual([]);
    await expectPublished(db, domainId);
  });

  test('two zones are signed concurrently, and one is completed after its process stops', async () => {
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

describe('change-denial', () => {
  describe.each([
    ['nsec', 'nsec3'],
    ['nsec3', 'nsec'],
  ] as const)('from %s to %s', (from, to) => {
    test('a small zone gets the other chain instead of its own in one change', async () => {
      const domainId = (await newDomain(db, await newAccount(db, 'a@example.org'))).id;
      await saved(db, domainId, ['www A 198.51.100.1', '*.w A 198.51.100.1', 'sub NS ns.example.net']);
      await enabled(db, { domainId }, { denial: from });
      const order = { ...BY, denial: to };
      const changed = await changeDenial(db, { domainId }, order);
      expect(changed).toEqual({ kind: 'updated', changeId: expect.any(Number) });
      expect(await stored()).toMatchObject({ denial: to, change: null });
      expect((await types())[from]).toBe(0);
      expect(await signatureFaults(db, APEX)).toEqual([]);
      await expectPublished(db, domainId);
      expect(await changeDenial(db, { domainId }, order)).toEqual({ kind: 'updated' });
      const rows = await query`select id from domain_changes where operation = 'dnssec' order by id`;
      expect(rows.at(-1)).toEqual({ id: (changed as { changeId: number }).changeId });
    });

    test('continues after it is killed at a piece, and leaves nothing after an abort', async () => {
      const hosts = lines(NAMES, (i) => `n${i} A 192.0.2.1`);
      const zone = (ttl: number) =>
        recordsOf(
          [`@ SOA ns. host. 7 2 3 4 ${ttl}`, '@ NS ns.else.example.', ...hosts].join('\n'),
          'big.test.',
        );
      await saveZones(db, [{ apex: ZONE, records: zone(5) }], { source: 'test' });
      const { signed } = await enabled(db, OPERATOR, { denial: from });
      await signInPieces(db, signed.id, NEVER);
      const back = { ...BY, denial: from };
      await changeDenial(db, OPERATOR, { ...BY, denial: to });
      const killed = betweenPieces((piece) => {
        if (piece === 3) throw new Error('killed');
      });
      await expect(addChain(db, signed.id, killed)).rejects.toThrow('killed');
      expect((await types(ZONE))[to]).toBeGreaterThan(100);
      expect((await types(ZONE)).parameters).toBe(from === 'nsec3' ? 1 : 0);
      expect(await changeDenial(db, OPERATOR, back)).toMatchObject({ kind: 'updated', inPieces: signed.id });
      expect(await addChain(db, signed.id, NEVER)).toBe('gone');
      expect(await claimDuePieces(db, 1)).toEqual([{ id: signed.id, name: 'big.test.', work: 'removing' }]);
      const killedAgain = betweenPieces((piece) => {
        if (piece === 1) throw new Error('killed');
      });
      await expect(removeChain(db, signed.id, killedAgain)).rejects.toThrow('killed');

      // The owner changes back halfway, and a file is loaded whose SOA has another negative TTL.
      await changeDenial(db, OPERATOR, { ...BY, denial: to });
      let isLoaded = false;
      const loading = betweenPieces((piece) => {
        if (piece === 1)
          void saveZones(db, [{ apex: ZONE, records: zone(9) }], { source: 'test' }).then(
            () => (isLoaded = true),
          );
      });
      expect(await addChain(db, signed.id, loading)).toBe('changed');
      await expect.poll(() => isLoaded).toBe(true);
      expect(await signatureFaults(db, ZONE)).toEqual([]);
      await removeChain(db, signed.id, NEVER);
      expect(await signatureFaults(db, ZONE)).toEqual([]);
      expect((await types(ZONE))[from]).toBe(0);
      await expectSerials();
      expect(await changeDenial(db, OPERATOR, back)).toMatchObject({ inPieces: signed.id });
      expect(await changeDenial(db, OPERATOR, { ...BY, denial: to })).toMatchObject({ inPieces: signed.id });
      expect(await stored()).toMatchObject({ denial: to, change: 'removing' });
    });
  });

  test('an unsigned zone, or a name that is too long for hashes, is rejected', async () => {
    const account = await newAccount(db, 'a@example.org');
    const domainId = (await newDomain(db, account)).id;
    const order = { ...BY, denial: 'nsec3' } as const;
    const unsigned = await changeDenial(db, { domainId }, order);
    expect(unsigned).toMatchObject({ kind: 'refused', code: 'wrong_state' });
    expect(await changeDenial(db, { domainId: domainId + 9 }, order)).toEqual({ kind: 'absent' });
    const long = `${'a'.repeat(60)}.${'b'.repeat(60)}.${'c'.repeat(60)}.${'d'.repeat(45)}.test`;
    const longId = (await newDomain(db, account, `${long}.`)).id;
    await enabled(db, { domainId: longId });
    expect(await changeDenial(db, { domainId: longId }, order)).toMatchObject({ code: 'wrong_state' });
    await enabled(db, { domainId });
    expect(await changeDenial(db, { domainId }, { ...order, ownerId: account + 9 })).toEqual({
      kind: 'absent',
    });
    await query`
    insert into nodes (name, instance, started_at, loaded, zones, records, abilities, seen_at)
    values ('old', gen_random_uuid(), clock_timestamp(), true, 0, 0, '{}', clock_timestamp())`;
    expect(await changeDenial(db, { domainId }, order)).toMatchObject({ code: 'dnssec_unavailable' });
  });
});
