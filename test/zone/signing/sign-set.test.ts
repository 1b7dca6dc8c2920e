import { createPublicKey } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { readSignature } from '../../../src/dns/dnssec/signed-octets.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { signSet, signSets } from '../../../src/zone/signing/sign-set.ts';
import { verifySet } from '../../../src/zone/signing/verify-set.ts';
import { testKey } from '../../support/dnssec/zone-keys.ts';
import { name } from '../../support/world/zone-exchange.ts';

const ZONE = name('zone.test');
const times = { inception: 1_800_000_000, expiration: 1_801_000_000 };
const setAt = (owner: string, ...octets: number[]) => ({
  owner: name(owner),
  type: TYPE.TXT,
  ttl: 300,
  rdata: octets.map((octet) => Uint8Array.of(1, octet)),
});

describe.each([13, 15] as const)('a signature of algorithm %d', (algorithm) => {
  const key = testKey(algorithm);
  const published = { tag: key.tag, algorithm, publicKey: key.dnskey.subarray(4) };
  const verify = (set: ReturnType<typeof setAt>, signatures: readonly Uint8Array[]) =>
    verifySet({ ...set, signatures }, { zone: ZONE, keys: [published], at: times.inception });

  it('has 64 octets, the zone as signer, the times, the TTL and the labels without an asterisk', () => {
    const set = setAt('*.a.zone.test', 1, 2);
    const rdata = signSet({ set, key }, { zone: ZONE, times });
    expect(readSignature(rdata)).toMatchObject({
      ...times,
      signer: ZONE,
      originalTtl: 300,
      labels: 3,
      keyTag: key.tag,
    });
    expect(readSignature(rdata).signature.length).toBe(64);
    expect(verify(set, [rdata])).toBeUndefined();
  });

  it('is made in place or by threads alike, in the order of the sets', async () => {
    for (const count of [0, 1, 32, 33, 100]) {
      const sets = Array.from({ length: count }, (_, i) => setAt(`n${i}.zone.test`, i & 255));
      const made = await signSets(
        sets.map((set) => ({ set, key })),
        { zone: ZONE, times },
      );
      expect(made.length).toBe(count);
      expect(sets.filter((set, i) => verify(set, [made[i] as Uint8Array]) !== undefined)).toEqual([]);
    }
  });

  it('that cannot be made is an error, also of the last of many', async () => {
    const wrong = { ...key, privateKey: createPublicKey(key.privateKey) };
    const sets = Array.from({ length: 40 }, (_, i) => ({
      set: setAt('a.zone.test', i),
      key: i === 39 ? wrong : key,
    }));
    await expect(signSets(sets, { zone: ZONE, times })).rejects.toThrow();
  });

  it('is of times modulo 2^32, as serial numbers are', () => {
    const late = { inception: 2 ** 32 - 10, expiration: 2 ** 32 + 1_000_000 };
    const set = setAt('a.zone.test', 1);
    const rdata = signSet({ set, key }, { zone: ZONE, times: late });
    expect(readSignature(rdata).expiration).toBe(1_000_000);
    const at = (seconds: number) =>
      verifySet({ ...set, signatures: [rdata] }, { zone: ZONE, keys: [published], at: seconds });
    expect([at(2 ** 32 - 5), at(2 ** 32 + 5)]).toEqual([undefined, undefined]);
    expect(at(2 ** 32 + 1_000_001)).toBe('a signature has expired');
  });
});
