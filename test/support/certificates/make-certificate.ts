// Creates certificates and keys for tests: an authority, an intermediate, and leaves of any kind.

import { KeyObject, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto as never);

type KeyKind = 'P-256' | 'P-384' | 'P-521' | 'ed25519' | { readonly rsa: number };

export interface Issued {
  readonly certificate: x509.X509Certificate;
  /** PEM. */
  readonly pem: string;
  /** PEM (PKCS #8). */
  readonly key: string;
  readonly keys: webcrypto.CryptoKeyPair;
}

interface Wanted {
  readonly name?: string;
  readonly names?: readonly string[];
  /** Undefined if it is self-signed. */
  readonly issuer?: Issued | undefined;
  readonly kind?: KeyKind;
  readonly hash?: 'SHA-1' | 'SHA-256' | 'SHA-384' | 'SHA-512';
  readonly isAuthority?: boolean;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly usage?: string;
  /** Dotted identifiers of additional extensions with arbitrary contents. */
  readonly critical?: readonly string[];
  readonly uncritical?: readonly string[];
}

const DAY_MS = 86_400_000;
/** ASN.1 NULL. */
const NULL = new Uint8Array([5, 0]);

export async function makeCertificate(wanted: Wanted = {}): Promise<Issued> {
  const { names = [], name = names[0] ?? 'Test CA', issuer, kind = 'P-256', isAuthority = false } = wanted;
  const hash = wanted.hash ?? 'SHA-256';
  const keys = await makeKeys(kind, hash);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: Buffer.from(webcrypto.getRandomValues(new Uint8Array(8))).toString('hex'),
    subject: `CN=${name}`,
    issuer: issuer?.certificate.subject ?? `CN=${name}`,
    notBefore: wanted.notBefore ?? new Date(Date.now() - DAY_MS),
    notAfter: wanted.notAfter ?? new Date(Date.now() + 89 * DAY_MS),
    publicKey: keys.publicKey as never,
    signingKey: (issuer?.keys ?? keys).privateKey as never,
    signingAlgorithm: signingAlgorithm((issuer?.keys ?? keys).privateKey, hash) as never,
    extensions: [
      ...(isAuthority ? [new x509.BasicConstraintsExtension(true, undefined, true)] : []),
      ...(names.length > 0
        ? [
            new x509.SubjectAlternativeNameExtension(
              names.map((value) => ({ type: /^[\d.]+$|:/.test(value) ? 'ip' : 'dns', value })),
            ),
          ]
        : []),
      ...(wanted.usage === undefined ? [] : [new x509.ExtendedKeyUsageExtension([wanted.usage])]),
      ...(wanted.critical ?? []).map((type) => new x509.Extension(type, true, NULL)),
      ...(wanted.uncritical ?? []).map((type) => new x509.Extension(type, false, NULL)),
    ],
  });
  const key = KeyObject.from(keys.privateKey);
  return {
    certificate,
    pem: `${certificate.toString('pem')}\n`,
    key: key.export({ type: 'pkcs8', format: 'pem' }) as string,
    keys,
  };
}

export async function makeChain(names: readonly string[], leaf: Omit<Wanted, 'names' | 'issuer'> = {}) {
  const root = await makeCertificate({ name: 'Test Root', isAuthority: true });
  const middle = await makeCertificate({ name: 'Test Intermediate', isAuthority: true, issuer: root });
  return { root, middle, leaf: await makeCertificate({ ...leaf, names, issuer: middle }) };
}

async function makeKeys(kind: KeyKind, hash: string): Promise<webcrypto.CryptoKeyPair> {
  const { subtle } = webcrypto;
  const algorithm =
    typeof kind === 'object'
      ? {
          name: 'RSASSA-PKCS1-v1_5',
          hash,
          publicExponent: new Uint8Array([1, 0, 1]),
          modulusLength: kind.rsa,
        }
      : kind === 'ed25519'
        ? { name: 'Ed25519' }
        : { name: 'ECDSA', namedCurve: kind };
  return (await subtle.generateKey(algorithm, true, ['sign', 'verify'])) as webcrypto.CryptoKeyPair;
}

function signingAlgorithm({ algorithm: { name } }: webcrypto.CryptoKey, hash: string) {
  return name === 'Ed25519' ? { name } : { name, hash };
}
