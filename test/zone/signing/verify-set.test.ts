import { describe, expect, it } from 'vitest';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { signSet } from '../../../src/zone/signing/sign-set.ts';
import { verifySet } from '../../../src/zone/signing/verify-set.ts';
import { type TestKey, testKey } from '../../support/dnssec/zone-keys.ts';
import { name } from '../../support/world/zone-exchange.ts';

const ZONE = name('zone.test');
const AT = 1_800_000_000;
const times = { inception: AT - 100, expiration: AT + 100 };
const SET = { owner: name('a.zone.test'), type: TYPE.TXT, ttl: 300, rdata: [Uint8Array.of(1, 65)] };
const [first, second, other] = [testKey(13), testKey(13), testKey(15)];

const sign = (key: TestKey, set = SET, zone = ZONE, when = times) =>
  signSet({ set, key }, { zone, times: when });
const verify = (signatures: readonly Uint8Array[], keys: readonly TestKey[], set = SET) =>
  verifySet(
    { ...set, signatures },
    {
      zone: ZONE,
      keys: keys.map(({ tag, algorithm, dnskey }) => ({ tag, algorithm, publicKey: dnskey.subarray(4) })),
      at: AT,
    },
  );

describe('a stored set', () => {
  it('is good with one good signature of each algorithm of the published keys (RFC 4035 §2.2)', () => {
    expect(verify([sign(first)], [first, second])).toBeUndefined();
    expect(verify([sign(first), sign(other)], [first, other])).toBeUndefined();
    expect(verify([sign(first)], [first, other])).toBe(
      'there is no signature of a published key with algorithm 15',
    );
    expect(verify([], [first])).toBe('there is no signature of a published key with algorithm 13');
  });

  it('may have signatures of keys that are not published yet, beside', () => {
    expect(verify([sign(first), sign(other)], [first])).toBeUndefined();
    expect(verify([sign(second)], [first])).toContain('no signature of a published key');
  });

  it('is bad with one wrong signature, though another is good', () => {
    const wrong = Uint8Array.from(sign(second));
    wrong[wrong.length - 1] = (wrong.at(-1) as number) ^ 1;
    expect(verify([sign(first), wrong], [first, second])).toBe(`the signature of key ${second.tag} is wrong`);
    expect(verify([sign(first, { ...SET, rdata: [Uint8Array.of(1, 66)] })], [first])).toContain('is wrong');
  });

  it('is bad with a signature of another zone, of fewer labels, over another TTL, or out of its time', () => {
    expect(verify([sign(first, SET, name('test'))], [first])).toBe('a signature is of another zone');
    const wildcard = { ...SET, owner: name('*.zone.test') };
    expect(verify([sign(first, wildcard)], [first])).toBe('a signature counts 2 labels');
    expect(verify([sign(first, wildcard)], [first], wildcard)).toBeUndefined();
    expect(verify([sign(first, { ...SET, ttl: 60 })], [first])).toBe('a signature is over the TTL 60');
    const at = (inception: number, expiration: number) =>
      verify([sign(first, SET, ZONE, { inception, expiration })], [first]);
    expect([at(AT, AT), at(AT + 1, AT + 9), at(AT - 9, AT - 1)]).toEqual([
      undefined,
      'a signature is not valid yet',
      'a signature has expired',
    ]);
  });

  it('cannot be verified without a key of a known algorithm', () => {
    const keys = [{ tag: first.tag, algorithm: 200, publicKey: first.dnskey.subarray(4) }];
    expect(verifySet({ ...SET, signatures: [sign(first)] }, { zone: ZONE, keys, at: AT })).toBe(
      'no key is published whose algorithm is known',
    );
  });
});
