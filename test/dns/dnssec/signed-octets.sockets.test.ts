import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { keyTag } from '../../../src/dns/dnssec/key-tag.ts';
import { readSignature, signedLabels, signedOctets } from '../../../src/dns/dnssec/signed-octets.ts';
import { verifySignature } from '../../../src/dns/dnssec/verify-signature.ts';
import { printName } from '../../../src/dns/name.ts';
import { TYPE, typeMnemonic } from '../../../src/dns/type-codes.ts';
import { makeKey, signSet } from '../../support/dnssec/signing.ts';
import { name } from '../../support/world/zone-exchange.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const folder = mkdtempSync(join(tmpdir(), 'zonefleet-signed-'));
afterAll(() => rmSync(folder, { recursive: true }));

describe('the octets that are signed', () => {
  const time = { inception: 0, expiration: 1000 };
  const zone = name('test');
  const txt = (owner: string, ...octets: number[]) => ({
    owner: name(owner),
    type: TYPE.TXT,
    ttl: 60,
    rdata: octets.map((octet) => Uint8Array.of(1, octet)),
  });
  const key = makeKey(13);

  it('do not depend on order, duplicates, or the case of the owner', () => {
    const signature = readSignature(signSet(txt('a.test', 1, 2), key, { zone, time }));
    expect(signedOctets(signature, txt('A.tEst', 2, 1, 2))).toEqual(
      signedOctets(signature, txt('a.test', 1, 2)),
    );
  });

  it('contain the wildcard for a set synthesized from one (RFC 4035 §5.3.2)', () => {
    const signature = readSignature(signSet(txt('*.test', 1), key, { zone, time }));
    expect(signature.labels).toBe(1);
    expect(signedOctets(signature, txt('a.b.test', 1))).toEqual(signedOctets(signature, txt('*.test', 1)));
  });

  it('are undefined for a signature that counts more labels than the owner has', () => {
    const signature = readSignature(signSet(txt('a.test', 1), key, { zone, time }));
    expect(signedOctets({ ...signature, labels: 3 }, txt('a.test', 1))).toBeUndefined();
    expect(signedLabels(name('*.a.test'))).toBe(2);
  });

  const has = (program: string) => spawnSync('which', [program]).status === 0;

  it.skipIf(!has('dnssec-signzone') || !has('dnssec-keygen'))(
    'equal those that BIND signs, for every set of a zone with all record types',
    () => {
      const text = readFileSync('fixtures/zones/all-types.zone', 'utf8');
      writeFileSync(join(folder, 'zone'), text);
      const run = (program: string, ...args: string[]) =>
        execFileSync(program, args, {
          cwd: folder,
          encoding: 'utf8',
          stdio: ['ignore', 'pipe', 'pipe'],
        }).trim();
      for (const algorithm of ['ECDSAP256SHA256', 'RSASHA256'])
        run('dnssec-keygen', '-a', algorithm, '-b', '2048', '-f', 'KSK', 'types.test');
      run('dnssec-signzone', '-S', '-z', '-o', 'types.test', '-f', 'signed', 'zone');
      const records = recordsOf(readFileSync(join(folder, 'signed'), 'utf8'), 'types.test.');
      const dnskeys = records.filter(({ type }) => type === TYPE.DNSKEY).map(({ rdata }) => rdata);
      const wrong: string[] = [];
      const covered = new Set<number>();
      for (const { owner, type, rdata } of records) {
        if (type !== TYPE.RRSIG) continue;
        const signature = readSignature(rdata);
        const set = {
          owner,
          type: signature.typeCovered,
          rdata: records
            .filter((record) => record.owner === owner && record.type === signature.typeCovered)
            .map((record) => record.rdata),
        };
        const dnskey = dnskeys.find((each) => keyTag(each) === signature.keyTag) as Uint8Array;
        const isValid = verifySignature(signature.algorithm, {
          publicKey: dnskey.subarray(4),
          data: signedOctets(signature, set) as Uint8Array,
          signature: signature.signature,
        });
        covered.add(set.type);
        if (!isValid) wrong.push(`${printName(owner)} ${typeMnemonic(set.type)}`);
      }
      expect(wrong).toEqual([]);
      expect(covered.size).toBeGreaterThan(30);
    },
  );
});
