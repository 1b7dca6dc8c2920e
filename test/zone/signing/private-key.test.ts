// Keys made by other programs: dnssec-keygen of BIND 9.18, pdnsutil and the API of PowerDNS 4.7, keymgr of Knot DNS 3.2.

import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { type GivenKey, printPrivateKey, readPrivateKeys } from '../../../src/zone/signing/private-key.ts';
import { makeKey } from '../../../src/zone/signing/signing-key.ts';

const BIND_KSK = `Private-key-format: v1.3
Algorithm: 13 (ECDSAP256SHA256)
PrivateKey: LHMrfhB5DDTxFUxaF110OVCjOaly2mDFmwr0GbSy0KA=
Created: 20261129160954
Publish: 20261129160954
Activate: 20261129160954
`;
const BIND_KSK_PUBLIC =
  'U+hmHEsKQYxzwGA9pYjT4njDyyvrLQvr2ykVNoaHd/vIYnFP+TUu2W/wo/ow0+GjO2itvJE8VLLrbbcp7s2XCg==';
const BIND_ZSK = `Private-key-format: v1.3
Algorithm: 13 (ECDSAP256SHA256)
PrivateKey: aS4IqBtoMy9mlH+iTY31TOgiyxKZH/NVU7EEoic0LCU=
`;
const BIND_ED25519 = `Private-key-format: v1.3
Algorithm: 15 (ED25519)
PrivateKey: xewxC5bNNGKHanOv4QusDc3y0TvfqrerfY2MAR6kcyk=
`;
const BIND_RSA = `Private-key-format: v1.3
Algorithm: 8 (RSASHA256)
Modulus: r/VKZ9RuEIr6
PublicExponent: AQAB
`;
const PDNS_CSK = `Private-key-format: v1.2
Algorithm: 13 (ECDSAP256SHA256)
PrivateKey: eSt0HzJzxvNGhqocIeXNjnR+dglMByz7FmeCPxCt1rY=

`;
const PDNS_ED25519 = `Private-key-format: v1.2
Algorithm: 15 (ED25519)
PrivateKey: dphUuNpjOC5ommYF0BrJ/7d3SfDubaOo5sbXI1KhgXA=
`;
const KNOT_P256 = `-----BEGIN PRIVATE KEY-----
MIGUAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBHoweAIBAQQhAKWzkGHu1QHJ79sg
tY/NNv/g9kDFXKIFR1F7hjjBdsjYoAoGCCqGSM49AwEHoUQDQgAE3T9vm+q5L3qZ
/hnnbSAn1OARUjIPlv7nKSCDgGRI40SNT1VFpLjQmhgUEBJu9ttRQn0C+Mw/UQlo
mcodRpxFaA==
-----END PRIVATE KEY-----
`;
/** KNOT_P256 after `openssl ec`, following the block that `openssl ecparam -genkey` writes first. */
const SEC1 = `-----BEGIN EC PARAMETERS-----
BggqhkjOPQMBBw==
-----END EC PARAMETERS-----
-----BEGIN EC PRIVATE KEY-----
MHcCAQEEIKWzkGHu1QHJ79sgtY/NNv/g9kDFXKIFR1F7hjjBdsjYoAoGCCqGSM49
AwEHoUQDQgAE3T9vm+q5L3qZ/hnnbSAn1OARUjIPlv7nKSCDgGRI40SNT1VFpLjQ
mhgUEBJu9ttRQn0C+Mw/UQlomcodRpxFaA==
-----END EC PRIVATE KEY-----
`;
const P256_PUBLIC =
  '3T9vm+q5L3qZ/hnnbSAn1OARUjIPlv7nKSCDgGRI40SNT1VFpLjQmhgUEBJu9ttRQn0C+Mw/UQlomcodRpxFaA==';
const KNOT_ED25519 = `-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIB5lCViwQdqD62HdtkHLTNOcbgIRNiC4xNZ2nB8HHopo
-----END PRIVATE KEY-----
`;

const entry = (privateKey: string, more: Partial<GivenKey> = {}): GivenKey => ({
  privateKey,
  flags: 257,
  ...more,
});
const dnskey = (flags: number, algorithm: number, publicKey: string) =>
  Uint8Array.from([flags >> 8, flags & 255, 3, algorithm, ...Buffer.from(publicKey, 'base64')]);
const refusal = (...given: GivenKey[]) => {
  const read = readPrivateKeys(given);
  return read.kind === 'refused' ? `${read.index} ${read.message}` : 'read';
};

describe('a private key is read', () => {
  it.each([
    ['of BIND', BIND_KSK, 257, 13, 16805, BIND_KSK_PUBLIC],
    ['of BIND, Ed25519', BIND_ED25519, 257, 15, 28283, '4ukfWqriFMO/2bG+gmxfJFYFSVCNiLkAbxn18SZH5CY='],
    [
      'of PowerDNS',
      PDNS_CSK,
      257,
      13,
      61369,
      'KY2yWnUrNsvawE7i6ebQV2ny6Qyq5y+6msmLQaRckYFmeJN39Rd+7OpWkcbri6wLF/CUr2FP4uwqkZzHC5Cw8g==',
    ],
    ['of PowerDNS, Ed25519', PDNS_ED25519, 257, 15, 4464, '9TxByCtEkPQo6D+gCq+gtajTVCDWTbqdIAYPxwbwQZg='],
    ['of Knot', KNOT_P256, 257, 13, undefined, P256_PUBLIC],
    ['of OpenSSL', SEC1, 257, 13, undefined, P256_PUBLIC],
    ['of Knot, Ed25519', KNOT_ED25519, 257, 15, undefined, 'UaAJfE3w8JT6LL9ulnp+DHqYZTyGhKePXkVTDmSkhKE='],
  ])('%s', (_, privateKey, flags, algorithm, tag, publicKey) => {
    const rdata = dnskey(flags, algorithm, publicKey);
    const read = readPrivateKeys([entry(privateKey, { algorithm, dnskey: rdata })]);
    expect(read).toMatchObject({ kind: 'keys', keys: [{ algorithm, flags, dnskey: rdata }] });
    if (tag !== undefined) expect(read).toMatchObject({ keys: [{ tag }] });
    expect(readPrivateKeys([entry(`\ufeff${privateKey.replaceAll('\n', '\r\n')}`)])).toEqual(read);
  });

  it('together with another one that signs data', () => {
    const read = readPrivateKeys([entry(BIND_ZSK, { flags: 256 }), entry(BIND_KSK)]);
    expect(read).toMatchObject({
      keys: [
        { flags: 256, tag: 48079 },
        { flags: 257, tag: 16805 },
      ],
    });
  });

  it('whose scalar begins with zeros that the program omitted', () => {
    const short = BIND_KSK.replace(/PrivateKey: .*/, `PrivateKey: ${Buffer.alloc(31, 7).toString('base64')}`);
    const whole = BIND_KSK.replace(
      /PrivateKey: .*/,
      `PrivateKey: ${Buffer.concat([Buffer.alloc(1), Buffer.alloc(31, 7)]).toString('base64')}`,
    );
    expect(readPrivateKeys([entry(short)])).toEqual(readPrivateKeys([entry(whole)]));
  });
});

const rsa = (modulusLength: number) =>
  generateKeyPairSync('rsa', {
    modulusLength,
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type: 'pkcs8' },
  }).privateKey;
const p384 = (type: 'pkcs8' | 'sec1') =>
  generateKeyPairSync('ec', {
    namedCurve: 'P-384',
    publicKeyEncoding: { format: 'pem', type: 'spki' },
    privateKeyEncoding: { format: 'pem', type },
  }).privateKey;
const withSecret = (secret: Buffer) =>
  BIND_KSK.replace(/PrivateKey: .*/, `PrivateKey: ${secret.toString('base64')}`);

describe('a private key is refused', () => {
  it.each<[string, GivenKey, RegExp]>([
    ['of RSA', entry(BIND_RSA), /algorithm is 8.*13 \(ECDSAP256SHA256\) and 15/],
    ['of RSA as PEM', entry(rsa(1024)), /the algorithm of the key in the PEM is not supported.*13/],
    [
      'of RSA whose numbers have no bounds',
      entry(BIND_RSA.replace('AQAB', 'A'.repeat(100_000))),
      /too long.*13 \(ECDSAP256SHA256\)/,
    ],
    ['of P-384', entry(p384('pkcs8')), /algorithm of the key in the PEM/],
    ['of P-384 in SEC1', entry(p384('sec1')), /algorithm of the key in the PEM/],
    ['of an algorithm other than the given one', entry(BIND_KSK, { algorithm: 15 }), /has algorithm 13/],
    ['without an algorithm', entry(BIND_KSK.replace(/Algorithm.*/, '')), /has no Algorithm/],
    ['of another version', entry(BIND_KSK.replace('v1.3', 'v2.0')), /is not v1/],
    ['that is not a key', entry('hello'), /neither/],
    [
      'that is public',
      entry(`a.zz. IN DNSKEY 257 3 13 ${P256_PUBLIC}`),
      /public key.*in the file K\*\.private/,
    ],
    ['with a passphrase', entry(KNOT_P256.replaceAll('PRIVATE', 'ENCRYPTED PRIVATE')), /passphrase/],
    [
      'with a passphrase in SEC1',
      entry(SEC1.replace('MHcC', 'Proc-Type: 4,ENCRYPTED\n\nMHcC')),
      /passphrase/,
    ],
    ['in a PEM with more than one block', entry(KNOT_P256 + KNOT_ED25519), /one block/],
    ['in a PEM that is cut off', entry(KNOT_P256.replace('mcodRpxFaA==\n', '')), /cannot be read/],
    ['with a duplicate field', entry(PDNS_CSK + BIND_KSK), /one key at a time/],
    ['of zero', entry(withSecret(Buffer.alloc(32))), /is not a key of ECDSAP256SHA256/],
    ['above the order of its curve', entry(withSecret(Buffer.alloc(32, 255))), /is not a key of/],
    ['that is too long', entry(withSecret(Buffer.alloc(33, 1))), /not 32 octets/],
    ['of Ed25519 that is too short', entry(BIND_ED25519.replace(/Key: .*/, 'Key: AAAA')), /not 32 octets/],
    ['with the flags of a revoked key', entry(BIND_KSK, { flags: 385 }), /flags must be 257/],
    ['of another public key', entry(PDNS_CSK, { dnskey: dnskey(257, 13, BIND_KSK_PUBLIC) }), /belong/],
    [
      'whose public key has other flags',
      entry(BIND_KSK, { dnskey: dnskey(256, 13, BIND_KSK_PUBLIC) }),
      /belong/,
    ],
    [
      'that only signs data',
      entry(BIND_ZSK, { flags: 256 }),
      /none of the keys has flags 257.*add the key with flags 257/,
    ],
  ])('%s', (_, given, message) => {
    expect(refusal(given)).toMatch(message);
    expect(refusal(given)).toMatch(/^0 /);
  });

  it('in a PEM with the public key of another one', () => {
    const pem = Buffer.from(KNOT_P256.split('\n').slice(1, -2).join(''), 'base64');
    pem[pem.length - 70] = 0; // within the private part
    const text = `-----BEGIN PRIVATE KEY-----\n${pem.toString('base64')}\n-----END PRIVATE KEY-----\n`;
    expect(refusal(entry(text))).not.toBe('read');
  });

  it('together with a key that it does not match', () => {
    const [ksk, zsk] = [entry(BIND_KSK), entry(BIND_ZSK, { flags: 256 })];
    expect(refusal(ksk, entry(BIND_KSK, { flags: 256 }))).toMatch(/^1 .*twice/);
    expect(refusal(ksk, entry(PDNS_CSK))).toMatch(/^1 .*same flags/);
    expect(refusal(ksk, entry(BIND_ED25519, { flags: 256 }))).toMatch(/^1 .*different algorithms/);
    expect(refusal(ksk, zsk, entry(PDNS_CSK))).toMatch(/^2 .*at most two keys/);
  });

  it('with a message that repeats no part of it', () => {
    const secret = 'LHMrfhB5DDTxFUxaF110OVCjOaly2mDFmwr0GbSy0KA=';
    for (const text of [BIND_KSK.replace('13', '8'), BIND_KSK.replace('v1', 'v2'), `${secret}\n${secret}`])
      expect(refusal(entry(text))).not.toContain(secret.slice(0, 8));
  });
});

describe.each([13, 15] as const)('a key of algorithm %i', (algorithm) => {
  it.each(['bind', 'pem'] as const)('is restored from its printed form: %s', (format) => {
    const made = makeKey(algorithm, 257);
    const text = printPrivateKey(made.dnskey, made.secret, format);
    expect(readPrivateKeys([entry(text, { algorithm, dnskey: made.dnskey })])).toMatchObject({
      keys: [{ tag: made.tag, secret: Buffer.from(made.secret) }],
    });
  });
});
