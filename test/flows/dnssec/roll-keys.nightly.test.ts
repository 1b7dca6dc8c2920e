// The life of a signed domain on real parts: a signed root and TLD on NSD and Knot, Zonefleet's nameserver and API,
// the job that changes keys, and Unbound, which validates every answer from the root down. Only the clock of the job
// advances by days.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableDnssec, enableDnssec, rollDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { changeDenial } from '../../../src/store/signing/change-denial.ts';
import { BY } from '../../support/database/domains.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import {
  INSECURE,
  SECURE,
  type SignedFleet,
  startSignedFleet,
} from '../../support/validators/signed-fleet.ts';

const needs = NEEDS_PARENT || (isInstalled('unbound') ? '' : ' (skipped: needs unbound)');

describe.skipIf(needs !== '')(`a signed domain below a real parent${needs}`, () => {
  let signed: SignedFleet;

  beforeAll(async () => {
    signed = await startSignedFleet('shop');
  });
  afterAll(() => signed?.stop());

  const order = () => ({ ...BY, domainId: signed.domainId });

  test('is signed, changes its key, to NSEC3 and its algorithm, and is unsigned again, without a bogus answer', async () => {
    const { db } = signed.fleet.database;
    expect(await signed.validated()).toEqual(INSECURE);
    expect((await enableDnssec(db, order())).kind).toBe('updated');
    await signed.passUntil('ds_wanted', 'ds_wanted');
    expect(await signed.validated()).toEqual(INSECURE);

    await signed.parent.showDs('shop', await signed.askedDs());
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);
    const { stdout } = await signed.fleet.cli('check', signed.name);
    expect(stdout).toContain('DNSSEC of zz: validated from the root (secure)');

    expect((await rollDnssec(db, { ...order(), compromised: false })).kind).toBe('updated');
    await signed.passUntil('rolling', 'ds_wanted');
    expect(await signed.validated()).toEqual(SECURE);
    await signed.parent.showDs('shop', await signed.askedDs());
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);

    const { domainId } = signed;
    expect((await changeDenial(db, { domainId }, { ...BY, denial: 'nsec3' })).kind).toBe('updated');
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);

    const other = { ...order(), compromised: false, algorithm: 15 } as const;
    expect((await rollDnssec(db, other)).kind).toBe('updated');
    await signed.passUntil('rolling', 'ds_wanted');
    expect(await signed.validated()).toEqual(SECURE);
    await signed.parent.showDs('shop', await signed.askedDs());
    await signed.passUntil('secure', undefined);
    expect(await signed.askedDs()).toMatch(/^\d+ 15 2 /);
    expect(await signed.validated()).toEqual(SECURE);

    expect((await disableDnssec(db, order())).kind).toBe('updated');
    await signed.passUntil('ds_removal', 'ds_unwanted');
    expect(await signed.validated()).toEqual(SECURE);
    await signed.parent.showDs('shop', undefined);
    await signed.passUntil('off', undefined);
    expect(await signed.validated()).toEqual(INSECURE);
  });
});
