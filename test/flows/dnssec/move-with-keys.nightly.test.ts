// A signed domain moves to the fleet from PowerDNS or BIND, and then to Knot, with its keys: at the registry, only
// the nameservers change. Unbound validates the answers of each operator, with an empty cache and with cached data.

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { isInstalled } from '../../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT } from '../../support/peers/real-parent.ts';
import { SECURE, type SignedFleet, startSignedFleet } from '../../support/validators/signed-fleet.ts';
import {
  type GivenPem,
  type SigningOperator,
  startBind,
  startKnot,
  startPowerDns,
} from '../../support/validators/signing-operators.ts';
import type { ValidatingResolver } from '../../support/validators/validator.ts';

const programs = [
  'unbound',
  'pdns_server',
  'pdnsutil',
  'named',
  'nsd',
  'dig',
  'dnssec-dsfromkey',
  'knotd',
  'keymgr',
].filter((program) => !isInstalled(program));
const needs = NEEDS_PARENT || (programs.length === 0 ? '' : ` (skipped: needs ${programs.join(', ')})`);
const THEIRS = ['ns1.other.zz', 'ns2.other.zz'];

describe.skipIf(needs !== '')(`a domain that moves with its keys${needs}`, () => {
  let signed: SignedFleet;
  const open: { stop(): Promise<unknown> }[] = [];
  beforeEach(async () => {
    signed = await startSignedFleet('shop', { isActive: false });
  });
  afterEach(async () => {
    await Promise.all(open.splice(0).map((each) => each.stop()));
    await signed?.stop();
  });
  async function opened<T extends { stop(): Promise<unknown> }>(starting: Promise<T>): Promise<T> {
    const one = await starting;
    open.push(one);
    return one;
  }

  const dnssec = async () => await signed.fleet.get(`/domains/${signed.name}/dnssec`);
  const codes = async (): Promise<string[]> =>
    (await dnssec()).findings.map(({ code }: { code: string }) => code);

  /** A resolver that follows the parent and keeps its cache. It is queried for new names. */
  async function remembering(): Promise<() => Promise<void>> {
    const unbound = await opened(signed.validatorOfParent());
    let asked = 0;
    return async () => {
      const name = parseName(`${++asked}.${signed.name}.`);
      const [verdict] = await unbound.ask([{ name, type: TYPE.A }]);
      expect(verdict).toMatchObject({ security: 'secure', rcode: 'NXDOMAIN' });
    };
  }

  test.each([
    ['PowerDNS', startPowerDns],
    ['BIND', startBind],
  ] as const)('from %s to Knot is secure at each step, at each operator', async (_, start) => {
    const old = await opened<SigningOperator>(start(signed.parent, 'shop.zz.'));
    await signed.parent.delegate({ shop: THEIRS });
    await signed.parent.showDs('shop', old.ds);
    await signed.checked(...THEIRS);
    const ofOurs = await opened(signed.validatorOf((signed.parent.ours[0] as { address: string }).address));
    const ofTheirs = await opened<ValidatingResolver>(signed.validatorOf(old.address));
    const askKnowing = await remembering();
    const allAreSecure = async () => {
      await askKnowing();
      expect(await signed.validated()).toEqual(SECURE);
      expect(await signed.validated(ofOurs), 'at our servers').toEqual(SECURE);
      expect(await signed.validated(ofTheirs), 'at theirs').toEqual(SECURE);
    };
    await askKnowing();
    expect(await signed.validated()).toEqual(SECURE);

    // move in, with the files of the old operator
    const flags = old.flags.flatMap((each) => ['--flags', String(each)]);
    const imported = await signed.fleet.cli('dnssec', 'import-key', 'shop.zz', ...old.keyFiles, ...flags);
    expect([imported.code, imported.stderr]).toEqual([0, '']);
    for (let looks = 0; looks < 60 && !(await codes()).includes('FOREIGN_NS_READY'); looks++) {
      await signed.look();
      await askKnowing();
      expect(await signed.validated()).toEqual(SECURE);
    }
    expect(await codes()).toEqual(['FOREIGN_NS_READY']);
    await allAreSecure();
    await signed.parent.delegate({ shop: FLEET_SETS[0] });
    await signed.checked(...FLEET_SETS[0]);
    await allAreSecure();
    await signed.passUntil('secure', undefined);
    await allAreSecure();
    expect((await dnssec()).registrar).toMatchObject({ action: 'none', add: [], remove: [] });
    expect(await codes()).toEqual([]);
    await old.stop();
    open.splice(open.indexOf(old), 1);
    expect(await signed.validated()).toEqual(SECURE);

    // move on, with the owner's export
    const path = `/domains/${signed.name}/dnssec/export-private-keys`;
    const { status, body } = await signed.fleet.ask('POST', path, { format: 'pem' });
    expect(status).toBe(200);
    const pems = body.keys.map((key: GivenPem & { private_key: string }) => ({
      ...key,
      pem: key.private_key,
    }));
    const next = await opened<SigningOperator>(startKnot(signed.parent, 'shop.zz.', pems));
    expect(next.ds.toUpperCase()).toBe(old.ds.toUpperCase());
    const askAgain = await remembering();
    const bothAreSecure = async () => {
      await askAgain();
      expect(await signed.validated()).toEqual(SECURE);
      expect(await signed.validated(ofOurs), 'at our servers').toEqual(SECURE);
      expect(await signed.validated(ofTheirs), 'at Knot').toEqual(SECURE);
    };
    await bothAreSecure();
    await signed.parent.delegate({ shop: THEIRS });
    await signed.checked(...THEIRS);
    for (let looks = 0; looks < 5; looks++) {
      await signed.look();
      await bothAreSecure();
    }
    expect(await codes()).toEqual([]);
    expect((await dnssec()).registrar).toMatchObject({ action: 'none', add: [], remove: [] });
  });
});
