// A domain that another operator signs moves in and out without being insecure at any time. The other operator signs
// with dnssec-signzone on NSD, the fleet signs its own zone, and each DNSKEY set has the keys of both (RFC 8901
// §2.2.2). Unbound validates the answers of both from the root down.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableDnssec, enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { importForeignKeys, replaceForeignKeys } from '../../../src/store/dnssec/foreign-keys.ts';
import { BY } from '../../support/database/domains.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import { type OtherOperator, startOtherOperator } from '../../support/validators/other-operator.ts';
import { SECURE, SignedFleet } from '../../support/validators/signed-fleet.ts';
import type { ValidatingResolver } from '../../support/validators/validator.ts';

const programs = ['unbound', 'dnssec-signzone'].filter((program) => !isInstalled(program));
const needs = NEEDS_PARENT || (programs.length === 0 ? '' : ` (skipped: needs ${programs.join(', ')})`);
const THEIRS = ['ns1.other.zz', 'ns2.other.zz'];

describe.skipIf(needs !== '')(`a domain that two operators sign${needs}`, () => {
  let signed: SignedFleet;
  let other: OtherOperator;
  let ofOurs: ValidatingResolver;
  let ofTheirs: ValidatingResolver;

  beforeAll(async () => {
    signed = await SignedFleet.start('shop', { isActive: false });
    other = await startOtherOperator(signed.parent, 'shop.zz.');
    await signed.parent.delegate({ shop: THEIRS });
    await signed.parent.showDs('shop', other.ds);
    await signed.checked(...THEIRS);
    const { address } = signed.parent.ours[0] as { address: string };
    ofOurs = await signed.validatorOf(address);
    ofTheirs = await signed.validatorOf(other.address);
  });
  afterAll(async () => {
    await Promise.all([ofOurs?.stop(), ofTheirs?.stop()]);
    await other?.stop();
    await signed?.stop();
  });

  const order = () => ({ ...BY, domainId: signed.domainId });
  const dnssec = async () => await signed.fleet.get(`/domains/${signed.name}/dnssec`);
  const foreignKeys = () =>
    other.keys.map((text) => {
      const [flags, protocol, algorithm, ...key] = text.split(' ');
      return {
        flags: Number(flags),
        protocol: Number(protocol),
        algorithm: Number(algorithm),
        publicKey: new Uint8Array(Buffer.from(key.join(''), 'base64')),
      };
    });

  async function bothAreSecure(): Promise<void> {
    expect(await signed.validated()).toEqual(SECURE);
    expect(await signed.validated(ofOurs), 'at our servers').toEqual(SECURE);
    expect(await signed.validated(ofTheirs), 'at theirs').toEqual(SECURE);
  }

  test('moves in and out again, and every answer of either operator is secure', async () => {
    const { db } = signed.fleet.database;
    expect(await signed.validated()).toEqual(SECURE);
    expect((await enableDnssec(db, order())).kind).toBe('updated');
    await signed.passUntil('broken', 'delegation');

    expect((await importForeignKeys(db, order())).kind).toBe('updated');
    await signed.passUntil('waiting', 'foreign');
    const imported = await dnssec();
    expect(imported).toMatchObject({ foreign_import: { state: 'done' }, ds: [] });
    expect(imported.foreign_keys).toHaveLength(2);
    expect(imported.findings.map(({ code }: { code: string }) => code)).toEqual(['FOREIGN_NS_WAIT']);

    const ours = imported.dnskey.map(({ text }: { text: string }) => text);
    await other.publish(ours);
    await signed.passUntil('ds_wanted', 'ds_wanted');
    expect(await signed.validated()).toEqual(SECURE);
    expect((await dnssec()).registrar).toMatchObject({ action: 'add', remove: [] });
    const own = await signed.askedDs();
    await signed.parent.showDs('shop', other.ds, own);
    await signed.passUntil('secure', undefined);
    await bothAreSecure();

    await signed.parent.delegate({ shop: FLEET_SETS[0] });
    await signed.checked(...FLEET_SETS[0]);
    await bothAreSecure();
    expect((await replaceForeignKeys(db, { ...order(), keys: [] })).kind).toBe('updated');
    await signed.passUntil('secure', 'ds_unwanted');
    await bothAreSecure();
    const leaving = await dnssec();
    expect(leaving.registrar).toMatchObject({
      action: 'remove',
      remove: [expect.stringContaining(' 13 2 ')],
    });
    expect(leaving.findings.map(({ code }: { code: string }) => code)).toContain('FOREIGN_KEYS_STAY');
    await signed.parent.showDs('shop', own);
    await signed.passUntil('secure', undefined);
    expect(await signed.validated()).toEqual(SECURE);
    expect((await dnssec()).foreign_keys).toEqual([]);

    expect((await replaceForeignKeys(db, { ...order(), keys: foreignKeys() })).kind).toBe('updated');
    await signed.passUntil('secure', 'ds_wanted');
    expect((await dnssec()).registrar).toMatchObject({ action: 'add', remove: [] });
    await signed.parent.showDs('shop', other.ds, own);
    await signed.passUntil('secure', undefined);
    await bothAreSecure();

    await signed.parent.delegate({ shop: THEIRS });
    await signed.checked(...THEIRS);
    await bothAreSecure();
    expect((await disableDnssec(db, order())).kind).toBe('updated');
    await signed.passUntil('ds_removal', 'ds_unwanted');
    await bothAreSecure();
    await signed.parent.showDs('shop', other.ds);
    await signed.passUntil('off', undefined);
    expect(await signed.validated()).toEqual(SECURE);
    await other.publish([]);
    expect(await signed.validated()).toEqual(SECURE);
  });
});
