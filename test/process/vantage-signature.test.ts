// What observers sign, and what a server takes as signed.

import { createHash, type KeyObject } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import {
  digestOf,
  fingerprintOf,
  isSignedBy,
  isVantageName,
  makeVantageKey,
  publicKeyOf,
  readPrivateKey,
  readPublicKey,
  readVantageHeaders,
  signVantageRequest,
  VANTAGE_CLOCK_MS,
  type VantageProof,
} from '../../src/process/vantage-signature.ts';

const NOW = 1_790_000_000_000;
const request = { method: 'POST', path: '/vantage/v1/answers', body: Buffer.from('{"id":"1"}') };
// RFC 8032 §7.1, test 1.
const SEED = Buffer.from('9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60', 'hex');
const PUBLIC = Buffer.from('d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', 'hex');
const privateKey = readPrivateKey(`zfv_${SEED.toString('base64url')}`) as KeyObject;
const publicKey = readPublicKey(PUBLIC.toString('base64url')) as KeyObject;

function proofOf(headers: Record<string, string>): VantageProof {
  return readVantageHeaders(headers) as VantageProof;
}

describe('a key of an observer', () => {
  it('is the seed of RFC 8032, and its public key is that of the RFC', () => {
    expect(publicKeyOf(privateKey)).toBe(PUBLIC.toString('base64url'));
  });

  it('is new each time, and both its texts are read back', () => {
    const made = makeVantageKey();
    expect(made.privateKey).toMatch(/^zfv_[\w-]{43}$/);
    expect(made).not.toEqual(makeVantageKey());
    expect(publicKeyOf(readPrivateKey(made.privateKey) as KeyObject)).toBe(made.publicKey);
    expect(readPublicKey(made.publicKey)).toBeDefined();
  });

  it('has one text only: none shorter, longer, padded, with other characters or with loose last bits', () => {
    const text = PUBLIC.toString('base64url');
    const last = text.slice(0, -1);
    expect([text.slice(1), `${text}A`, `${text}=`, `+${text.slice(1)}`, ''].map(readPublicKey)).toEqual(
      Array(5).fill(undefined),
    );
    expect([...'ABCDEFGH'].filter((end) => readPublicKey(last + end) !== undefined)).toHaveLength(2);
    expect(readPrivateKey(SEED.toString('base64url'))).toBeUndefined();
    expect(readPrivateKey(`zfv_${text}A`)).toBeUndefined();
  });

  it('is told by a fingerprint that shows nothing of the seed', () => {
    expect(fingerprintOf(PUBLIC.toString('base64url'))).toMatch(/^([0-9a-f]{4}:){7}[0-9a-f]{4}$/);
    expect(fingerprintOf(PUBLIC.toString('base64url'))).not.toBe(fingerprintOf(makeVantageKey().publicKey));
  });
});

describe('a signed request', () => {
  const headers = signVantageRequest(privateKey, 'paris', request, { timeMs: NOW });

  it('is that of the contract, line for line', () => {
    const nonce = Buffer.alloc(16, 0xab);
    expect(signVantageRequest(privateKey, 'paris', request, { timeMs: NOW, nonce })).toEqual({
      'x-vantage-name': 'paris',
      'x-vantage-time': '1790000000000',
      'x-vantage-nonce': 'ab'.repeat(16),
      'x-vantage-digest': createHash('sha256').update('{"id":"1"}').digest('hex'),
      // Of "zonefleet-vantage-1\nPOST\n/vantage/v1/answers\nparis\n1790000000000\nabab…ab\n" and the hash of the body.
      'x-vantage-signature':
        'Bj8pk0cMMhTRvQLnS+uEAe0ZlSRTcHmhuizens49S2zVRZDMZpOcUiSe3N+aA8/ABkFxrsKzyqoyQtRetjbqDg==',
    });
  });

  it('is taken from its signer, for a minute to both sides', () => {
    const taken = [-VANTAGE_CLOCK_MS - 1, -VANTAGE_CLOCK_MS, 0, VANTAGE_CLOCK_MS, VANTAGE_CLOCK_MS + 1].map(
      (late) => isSignedBy(publicKey, proofOf(headers), request, NOW + late),
    );
    expect(taken).toEqual([false, true, true, true, false]);
  });

  it('is not taken with another key, name, time, nonce, digest, method or path', () => {
    const other = readPublicKey(makeVantageKey().publicKey) as KeyObject;
    const proof = proofOf(headers);
    expect(isSignedBy(other, proof, request, NOW)).toBe(false);
    const changed = [
      { name: 'rome' },
      { timeMs: NOW + 1 },
      { nonce: '00'.repeat(16) },
      { digest: digestOf(Buffer.from('2')) },
    ];
    for (const each of changed)
      expect(isSignedBy(publicKey, { ...proof, ...each }, request, NOW)).toBe(false);
    const asked = [{ method: 'PUT' }, { path: '/vantage/v1/jobs' }];
    for (const each of asked) expect(isSignedBy(publicKey, proof, { ...request, ...each }, NOW)).toBe(false);
  });

  it('never has the nonce of another', () => {
    const again = signVantageRequest(privateKey, 'paris', request, { timeMs: NOW });
    expect(again['x-vantage-nonce']).not.toBe(headers['x-vantage-nonce']);
  });

  it('is read only with all five headers, each once and in its form', () => {
    const wrong: Record<string, string | string[] | undefined>[] = [
      { 'x-vantage-name': 'Paris' },
      { 'x-vantage-name': 'paris\nrome' },
      { 'x-vantage-name': 'a'.repeat(64) },
      { 'x-vantage-time': '01790000000000' },
      { 'x-vantage-time': '1e12' },
      { 'x-vantage-time': '-5' },
      { 'x-vantage-nonce': 'AB'.repeat(16) },
      { 'x-vantage-nonce': 'ab'.repeat(15) },
      { 'x-vantage-digest': undefined },
      { 'x-vantage-digest': headers['x-vantage-digest']?.toUpperCase() },
      { 'x-vantage-digest': headers['x-vantage-digest']?.slice(1) },
      { 'x-vantage-signature': headers['x-vantage-signature']?.slice(0, -4) },
      { 'x-vantage-signature': `${headers['x-vantage-signature']} ` },
      { 'x-vantage-signature': undefined },
      { 'x-vantage-signature': [headers['x-vantage-signature'] as string] },
    ];
    for (const each of wrong) expect(readVantageHeaders({ ...headers, ...each })).toBeUndefined();
    expect(readVantageHeaders(headers)).toBeDefined();
  });
});

it('a name of an observer is a label of small letters, digits and hyphens', () => {
  expect(['paris', 'de-1', 'a', '4'].filter(isVantageName)).toHaveLength(4);
  expect(['', '-a', 'a-', 'A', 'a.b', 'a b', 'a\n', 'é'].filter(isVantageName)).toEqual([]);
});
