// Certificates of tests: an authority, and leaves that it signs, written as DER by hand (RFC 5280).

import { createSign, generateKeyPairSync, type KeyObject, randomBytes } from 'node:crypto';

export interface MadeCertificate {
  /** PEM; of a leaf without its issuer. */
  readonly certificate: string;
  readonly privateKey: string;
}

export interface TestAuthority extends MadeCertificate {
  issue(names: readonly string[], days?: number): MadeCertificate;
}

const DAY_MS = 86_400_000;
const ECDSA_SHA256 = sequence(objectId([0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02]));
const COMMON_NAME = objectId([0x55, 0x04, 0x03]);
const extension = (id: number, value: Buffer, isCritical = false) =>
  sequence(objectId([0x55, 0x1d, id]), ...(isCritical ? [der(0x01, Buffer.of(255))] : []), der(0x04, value));

export function makeAuthority(name = 'Test Authority'): TestAuthority {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const certificate = certify({
    subject: name,
    issuer: name,
    publicKey,
    signer: privateKey,
    days: 3_650,
    extensions: [
      extension(0x13, sequence(der(0x01, Buffer.of(255))), true), // basicConstraints: an authority
      extension(0x0f, der(0x03, Buffer.of(1, 0b0000_0110)), true), // keyUsage: signs certificates and CRLs
    ],
  });
  return {
    certificate,
    privateKey: pemOf(privateKey),
    issue(names, days = 90) {
      const leaf = generateKeyPairSync('ec', { namedCurve: 'P-256' });
      const alternatives = names.map((each) => der(0x82, Buffer.from(each)));
      const signed = certify({
        subject: names[0] as string,
        issuer: name,
        publicKey: leaf.publicKey,
        signer: privateKey,
        days,
        extensions: [extension(0x11, sequence(...alternatives))],
      });
      return { certificate: signed, privateKey: pemOf(leaf.privateKey) };
    },
  };
}

interface Wanted {
  readonly subject: string;
  readonly issuer: string;
  readonly publicKey: KeyObject;
  readonly signer: KeyObject;
  readonly days: number;
  readonly extensions: readonly Buffer[];
}

function certify({ subject, issuer, publicKey, signer, days, extensions }: Wanted): string {
  const from = Date.now() - DAY_MS;
  const body = sequence(
    der(0xa0, der(0x02, Buffer.of(2))), // version 3
    der(0x02, Buffer.concat([Buffer.of(1), randomBytes(15)])),
    ECDSA_SHA256,
    nameOf(issuer),
    sequence(timeOf(from), timeOf(from + (days + 1) * DAY_MS)),
    nameOf(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  const signature = createSign('sha256').update(body).sign(signer);
  const whole = sequence(body, ECDSA_SHA256, der(0x03, Buffer.concat([Buffer.of(0), signature])));
  const lines = whole.toString('base64').replaceAll(/.{64}/g, '$&\n').trimEnd();
  return `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n`;
}

function pemOf(key: KeyObject): string {
  return key.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function nameOf(commonName: string): Buffer {
  return sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(commonName)))));
}

/** UTCTime; until 2049. */
function timeOf(ms: number): Buffer {
  const digits = new Date(ms)
    .toISOString()
    .replaceAll(/[-:T]|\.\d+/g, '')
    .slice(2);
  return der(0x17, Buffer.from(digits));
}

function objectId(octets: readonly number[]): Buffer {
  return der(0x06, Buffer.from(octets));
}

function sequence(...parts: readonly Buffer[]): Buffer {
  return der(0x30, Buffer.concat(parts));
}

function der(tag: number, value: Buffer): Buffer {
  const { length } = value;
  const sizes = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.of(tag, ...sizes), value]);
}
