// A domain that another operator signs moves in and out without being insecure at any time. The other operator signs
// with dnssec-signzone on NSD, the fleet signs its own zone, and each DNSKEY set has the keys of both (RFC 8901
// §2.2.2). Unbound validates the answers of both from the root down.

import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { disableDnssec, enableDnssec } from '../../../src/store/dnssec/change-goal.ts';
import { importForeignKeys, replaceForeignKeys } from '../../../src/store/dnssec/foreign-keys.ts';
import { BY } from '../../support/database/domains.ts';
import { isInstalled, type PeerAddress, startPeer } from '../../support/peers/peers.ts';
import { FLEET_SETS, NEEDS_PARENT, type RealParent } from '../../support/peers/real-parent.ts';
import { runIn } from '../../support/validators/run-program.ts';
import { SECURE, type SignedFleet, startSignedFleet } from '../../support/validators/signed-fleet.ts';
import type { ValidatingResolver } from '../../support/validators/validator.ts';

// Another operator of a domain below a real parent: NSD at the address of `ns1.other.zz` and `ns2.other.zz`, with a zone
// that dnssec-signzone signs with a separate KSK and ZSK.

type OtherOperator = Awaited<ReturnType<typeof startOtherOperator>>;

async function startOtherOperator(parent: RealParent, apex: string) {
  const directory = await mkdtemp(join(tmpdir(), 'zonefleet-other-'));
  for (const flag of [['-f', 'KSK'], []])
    await runIn(directory, 'dnssec-keygen', ['-q', '-a', '13', ...flag, apex]);
  const files = (await readdir(directory)).filter((file) => file.endsWith('.key')).sort();
  const texts = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  const keys = texts.map((text) => / DNSKEY (.*)/.exec(text)?.[1]?.trim() as string);
  const entry = files[keys.findIndex((key) => key.startsWith('257 '))] as string;
  const ds = / DS (.*)/.exec(await runIn(directory, 'dnssec-dsfromkey', ['-2', entry]))?.[1] as string;
  let serial = 0;
  const signedWith = async (others: readonly string[]) => {
    const lines = [
      `$ORIGIN ${apex}`,
      `@ 30 SOA ns1.other.zz. hostmaster.zz. ${++serial} 1800 900 604800 30`,
      '@ 30 NS ns1.other.zz.',
      '@ 30 NS ns2.other.zz.',
      'www 30 A 198.51.100.8',
      ...[...keys, ...others].map((key) => `@ 30 DNSKEY ${key}`),
    ];
    await writeFile(join(directory, 'zone'), `${lines.join('\n')}\n`);
    const names = files.map((file) => file.slice(0, -'.key'.length));
    await runIn(directory, 'dnssec-signzone', ['-q', '-P', '-o', apex, '-f', 'signed', 'zone', ...names]);
    return { apex, text: await readFile(join(directory, 'signed'), 'utf8') };
  };
  const address = (parent.ours[0] as PeerAddress).address.replace(/\.\d+$/, '.9');
  const listen = [53, parent.port].map((port) => ({ address, port }));
  const peer = await startPeer('nsd', [await signedWith([])], listen);
  return {
    ds: ds.trim(),
    /** Rdata of its DNSKEY records in zone-file format. */
    keys,
    address,
    /** Publishes these keys of the first operator, rdata of DNSKEY records, next to its own. */
    publish: async (others: readonly string[]) => await peer.rewrite(await signedWith(others)),
    async stop() {
      await peer.stop();
      await rm(directory, { recursive: true, force: true });
    },
  };
}

const programs = ['unbound', 'dnssec-signzone'].filter((program) => !isInstalled(program));
const needs = NEEDS_PARENT || (programs.length === 0 ? '' : ` (skipped: needs ${programs.join(', ')})`);
const THEIRS = ['ns1.other.zz', 'ns2.other.zz'];

describe.skipIf(needs !== '')(`a domain that two operators sign${needs}`, () => {
  let signed: SignedFleet;
  let other: OtherOperator;
  let ofOurs: ValidatingResolver;
  let ofTheirs: ValidatingResolver;

  beforeAll(async () => {
    signed = await startSignedFleet('shop', { isActive: false });
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
