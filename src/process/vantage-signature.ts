// Requests of remote observers (docs/rules.md "Vantage points") are signed with Ed25519 (RFC 8032). A signature covers the
// method, path, observer name, time, a nonce and the digest of the body, and is verified before the body is received. The
// server remembers each nonce while its time is accepted, so that a request counts once.

import {
  createHash,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  verify,
} from 'node:crypto';

/** Maximum difference between the clocks of both sides. */
export const VANTAGE_CLOCK_MS = 60_000;

interface VantageKeyPair {
  /** `zfv_` and the seed. */
  readonly privateKey: string;
  readonly publicKey: string;
}

/** The signed data besides the headers. */
export interface SignedRequest {
  readonly method: string;
  /** Starts at `/vantage/`, regardless of a proxy's prefix. */
  readonly path: string;
}

/** Contents of the five headers, well-formed but not verified. */
export interface VantageProof {
  readonly name: string;
  readonly timeMs: number;
  /** Hexadecimal. */
  readonly nonce: string;
  /** SHA-256 of the body in hexadecimal. */
  readonly digest: string;
  readonly signature: Uint8Array;
}

const CONTEXT = 'zonefleet-vantage-1';
const PRIVATE_PREFIX = 'zfv_';
const KEY_OCTETS = 32;
const NONCE_OCTETS = 16;
const SIGNATURE_OCTETS = 64;
/** Prefixes of the 32 octets in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410 §7, §4). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Letters, digits and hyphens, because the name is used in a signed text, headers and logs. */
export function isVantageName(text: string): boolean {
  return /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(text);
}

export function makeVantageKey(): VantageKeyPair {
  const { privateKey } = generateKeyPairSync('ed25519');
  const seed = privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(PKCS8.length);
  return {
    privateKey: `${PRIVATE_PREFIX}${seed.toString('base64url')}`,
    publicKey: publicKeyOf(privateKey),
  };
}

/** Returns undefined if the text is not a private key. */
export function readPrivateKey(text: string): KeyObject | undefined {
  const seed = text.startsWith(PRIVATE_PREFIX) ? keyOctets(text.slice(PRIVATE_PREFIX.length)) : undefined;
  return seed && createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** Returns undefined if the text is not a public key. */
export function readPublicKey(text: string): KeyObject | undefined {
  const octets = keyOctets(text);
  return octets && createPublicKey({ key: Buffer.concat([SPKI, octets]), format: 'der', type: 'spki' });
}

/** Returns the public key of a private key as text. */
export function publicKeyOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return der.subarray(SPKI.length).toString('base64url');
}

/** Returns a short form for comparing keys: 128 bits of the SHA-256 of the public key's octets, in hexadecimal. */
export function fingerprintOf(publicKey: string): string {
  const hash = createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex');
  return (hash.slice(0, 2 * NONCE_OCTETS).match(/.{4}/g) as string[]).join(':');
}

/** Returns the headers of a request. */
export function signVantageRequest(
  key: KeyObject,
  name: string,
  request: SignedRequest & { readonly body: Uint8Array },
  {
    timeMs = Date.now(),
    nonce = randomBytes(NONCE_OCTETS),
  }: { readonly timeMs?: number; readonly nonce?: Uint8Array } = {},
): Record<string, string> {
  const digest = digestOf(request.body);
  const proof = { name, timeMs, nonce: Buffer.from(nonce).toString('hex'), digest };
  return {
    'x-vantage-name': name,
    'x-vantage-time': String(timeMs),
    'x-vantage-nonce': proof.nonce,
    'x-vantage-digest': digest,
    'x-vantage-signature': sign(null, signedText(proof, request), key).toString('base64'),
  };
}

/** Returns undefined if a header is missing, repeated or malformed. Names are in lower case, as in Node. */
export function readVantageHeaders(
  headers: Readonly<Record<string, string | readonly string[] | undefined>>,
): VantageProof | undefined {
  const read = (each: string) => {
    const text = headers[`x-vantage-${each}`];
    return typeof text === 'string' ? text : '';
  };
  const [name, time, nonce, digest] = [read('name'), read('time'), read('nonce'), read('digest')];
  const signature = read('signature');
  const octets = Buffer.from(signature, 'base64');
  const isRight =
    isVantageName(name) &&
    /^[1-9]\d{0,14}$/.test(time) &&
    /^[0-9a-f]{32}$/.test(nonce) &&
    /^[0-9a-f]{64}$/.test(digest) &&
    octets.length === SIGNATURE_OCTETS &&
    octets.toString('base64') === signature;
  return isRight ? { name, timeMs: Number(time), nonce, digest, signature: octets } : undefined;
}

/** The caller must also check that the nonce is new and that the body matches the digest. */
export function isSignedBy(
  key: KeyObject,
  proof: VantageProof,
  request: SignedRequest,
  nowMs: number,
): boolean {
  if (Math.abs(nowMs - proof.timeMs) > VANTAGE_CLOCK_MS) return false;
  return verify(null, signedText(proof, request), key, proof.signature);
}

function signedText(
  { name, timeMs, nonce, digest }: Omit<VantageProof, 'signature'>,
  { method, path }: SignedRequest,
): Buffer {
  return Buffer.from([CONTEXT, method, path, name, timeMs, nonce, digest].join('\n'));
}

/** Returns the digest in the format of the header. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** Accepts only the canonical text of the octets, so that a key cannot be stored twice. */
function keyOctets(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64url');
  return octets.length === KEY_OCTETS && octets.toString('base64url') === text ? octets : undefined;
}
