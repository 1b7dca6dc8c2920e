// A zone never changes under the same serial, and the kept differences lead from each version to the next, whoever
// writes: edits, loads, signing and unsigning in pieces, chains of denials.

import { beforeEach, describe, expect, it } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { changeDenial } from '../../../src/store/signing/change-denial.ts';
import { addChain, removeChain } from '../../../src/store/signing/denial-chains.ts';
import { disableSigning, unsignInPieces } from '../../../src/store/signing/disable-signing.ts';
import { raiseSerial } from '../../../src/store/signing/raise-serial.ts';
import { refreshSignatures } from '../../../src/store/signing/refresh-signatures.ts';
import { signInPieces } from '../../../src/store/signing/sign-pieces.ts';
import { purgeHistory } from '../../../src/store/transfers/purge-history.ts';
import { saveZones, unloadZones } from '../../../src/store/zones/save-zones.ts';
import { BY, newAccount, newDomain, saved } from '../../support/database/domains.ts';
import { contentOf, expectReplay, historyOf, letPeerTransfer } from '../../support/database/kept-history.ts';
import { enabled, signatureFaults, useSecrets } from '../../support/database/signed-zones.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';
import { APEX } from '../../support/zone/customer-records.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const { db, query } = sharedDatabase();
const NEVER = new AbortController().signal;
const BIG = parseName('big.test.');
const OPERATOR = { zoneName: 'big.test.' };
const CLI = { source: 'cli' } as const;

beforeEach(async () => {
  useSecrets(db);
  await letPeerTransfer(db);
});

const bigZone = (serial: number, ...more: string[]) =>
  recordsOf(
    [
      `@ SOA ns. host. ${serial} 2 3 4 5`,
      '@ NS ns.else.example.',
      'cut NS ns.cut',
      'ns.cut A 192.0.2.2',
      ...Array.from({ length: 400 }, (_, i) => `${i % 7 === 0 ? `n${i}.deep` : `n${i}`} A 192.0.2.1`),
      ...more,
    ].join('\n'),
    'big.test.',
  );

describe('a domain', () => {
  it.each([
    'nsec',
    'nsec3',
  ] as const)('keeps what edits, signing with %s and the end of signing change', async (denial) => {
    const { id } = await newDomain(db, await newAccount(db, 'a@example.org'));
    const first = await contentOf(db, APEX);
    await saved(db, id, ['www A 198.51.100.1', 'www A 198.51.100.2', 'x.y TXT "a"']);
    await saved(db, id, { replace: [['www', 'A', '60 A 198.51.100.1']] });
    const signed = await enabled(db, { domainId: id }, { denial });
    await saved(db, id, ['deep.er.down A 192.0.2.7', '* MX 10 mail.example.net']);
    await refreshSignatures(db, signed.signed.id, NEVER);
    await raiseSerial(db, APEX, undefined);
    await disableSigning(db, { domainId: id }, BY);
    await saved(db, id, ['last A 192.0.2.9']);
    const steps = await expectReplay(db, APEX, first);
    expect(steps.length).toBeGreaterThan(6);
  });
});

describe('a large operator zone', () => {
  it('has a newer serial after each piece of signing, of another chain, and of the end of signing', async () => {
    await saveZones(db, [{ apex: BIG, records: bigZone(7) }], CLI);
    const first = await contentOf(db, BIG);
    await saveZones(db, [{ apex: BIG, records: bigZone(8, 'new TXT "a"') }], CLI, 'newer');
    const { signed } = await enabled(db, OPERATOR, { denial: 'nsec' });
    expect(await signInPieces(db, signed.id, NEVER)).toBe('signed');
    await saveZones(db, [{ apex: BIG, records: bigZone(9, 'other TXT "b"') }], CLI, 'newer');
    await changeDenial(db, OPERATOR, { ...BY, denial: 'nsec3' });
    expect(await addChain(db, signed.id, NEVER)).toBe('changed');
    expect(await signatureFaults(db, BIG)).toEqual([]);
    await removeChain(db, signed.id, NEVER);
    expect(await signatureFaults(db, BIG)).toEqual([]);
    await disableSigning(db, OPERATOR, BY);
    await unsignInPieces(db, signed.id, NEVER);
    const steps = await expectReplay(db, BIG, first);
    expect(steps.length).toBeGreaterThan(12);
  });

  it('is not loaded with other records under a serial that is not newer, unless it is raised', async () => {
    await saveZones(db, [{ apex: BIG, records: bigZone(7) }], CLI);
    const first = await contentOf(db, BIG);
    const other = { apex: BIG, records: bigZone(7, 'new TXT "a"') };
    await expect(saveZones(db, [other], CLI, 'newer')).rejects.toThrow('use --serial raise');
    expect(await saveZones(db, [{ apex: BIG, records: bigZone(6) }], CLI, 'raise')).toMatchObject([
      { outcome: 'unchanged' },
    ]);
    expect(await saveZones(db, [other], CLI, 'raise')).toMatchObject([{ outcome: 'replaced' }]);
    expect(await saveZones(db, [other], CLI, 'raise')).toMatchObject([{ outcome: 'unchanged' }]);
    expect(await expectReplay(db, BIG, first)).toMatchObject([{ serialBefore: 7, serialAfter: 8 }]);
    const signature = 'RRSIG SOA 13 2 300 20300101000000 20200101000000 7 big.test. AAAA';
    const signed = { apex: BIG, records: bigZone(8, `@ ${signature}`) };
    await expect(saveZones(db, [signed], CLI, 'raise')).rejects.toThrow('if the file has no signatures');
    await saveZones(db, [{ ...signed, records: bigZone(9, `@ ${signature}`) }], CLI, 'newer');
    expect(await raiseSerial(db, BIG, undefined)).toEqual({ outcome: 'signed_elsewhere' });
  });

  it('has a gap in its history where it was unloaded, or changed by more than half', async () => {
    await saveZones(db, [{ apex: BIG, records: bigZone(7) }], CLI);
    await unloadZones(db, [BIG], CLI);
    await saveZones(db, [{ apex: BIG, records: bigZone(8) }], CLI);
    expect(await historyOf(db, BIG)).toEqual([]);
    const many = Array.from({ length: 1100 }, (_, i) => `more${i} A 192.0.2.1`);
    await saveZones(db, [{ apex: BIG, records: bigZone(9, ...many) }], CLI);
    expect(await historyOf(db, BIG)).toMatchObject([{ before: null, rows: 1102 }]);
  });
});

it('history is deleted if it is old, unusable, or larger than its zone', async () => {
  const records = (serial: number, ttl: number) =>
    recordsOf(
      [`@ SOA ns. host. ${serial} 2 3 4 5`, '@ NS ns.else.example.', `www ${ttl} A 192.0.2.1`].join('\n'),
      'big.test.',
    );
  for (let serial = 1; serial <= 5; serial++)
    await saveZones(db, [{ apex: BIG, records: records(serial, serial) }], CLI);
  const versions = async () => (await historyOf(db, BIG)).map(({ serialAfter }) => serialAfter);
  expect(await versions()).toEqual([2, 3, 4, 5]);
  await query`update zone_history set at = now() - interval '8 days' where serial_after = 2`;
  await query`update zone_history set rows = 600 where serial_after in (3, 5)`;
  await purgeHistory(db, 7);
  expect(await versions()).toEqual([4, 5]);
  expect(await query`select distinct version from zone_differences`).toHaveLength(2);
  await query`update zone_history set version_before = null where serial_after = 4`;
  await purgeHistory(db, 7);
  expect(await versions()).toEqual([5]);
});
