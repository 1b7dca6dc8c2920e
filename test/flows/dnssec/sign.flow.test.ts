// A zone is signed through the API, and Unbound validates its answers from a signed root down.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isInstalled } from '../../support/peers/peers.ts';
import { NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import {
  INSECURE,
  SECURE,
  type SignedFleet,
  startSignedFleet,
} from '../../support/validators/signed-fleet.ts';

const needs = NEEDS_PARENT || (isInstalled('unbound') ? '' : ' (skipped: needs unbound)');

describe.skipIf(needs !== '')(`a zone below a signed parent${needs}`, () => {
  let signed: SignedFleet;
  beforeAll(async () => {
    signed = await startSignedFleet('shop');
  });
  afterAll(() => signed?.stop());

  it('is insecure when it is signed, and secure once its parent has the DS record', async () => {
    expect(await signed.validated()).toEqual(INSECURE);
    expect((await signed.fleet.ask('POST', '/domains/shop.zz/dnssec/enable')).status).toBe(200);
    await signed.passUntil('ds_wanted', 'ds_wanted');
    expect(await signed.validated()).toEqual(INSECURE);
    await signed.parent.showDs('shop', await signed.askedDs());
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);
  });
});
