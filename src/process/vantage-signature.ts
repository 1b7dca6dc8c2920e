// Requests of observers elsewhere (docs/rules.md "Vantage points") are signed with Ed25519 (RFC 8032). A signature binds the
// method, the path, the observer's name, the time, a nonce and the digest of the body: it is verified before the body comes. The
// server remembers each nonce while its time is accepted: so a request counts once.

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

/** How far the times of the two sides may be apart. */
export const VANTAGE_CLOCK_MS = 60_000;

interface VantageKeyPair {
  /** `zfv_` and the seed. */
  readonly privateKey: string;
  readonly publicKey: string;
}

/** What is signed, besides what the headers say. */
export interface SignedRequest {
  readonly method: string;
  /** From `/vantage/` on, whatever a proxy puts before it. */
  readonly path: string;
}

/** What the five headers say, in the right form, but not verified. */
export interface VantageProof {
  readonly name: string;
  readonly timeMs: number;
  /** Hex. */
  readonly nonce: string;
  /** The SHA-256 of the body, in hex. */
  readonly digest: string;
  readonly signature: Uint8Array;
}

const CONTEXT = 'zonefleet-vantage-1';
const PRIVATE_PREFIX = 'zfv_';
const KEY_OCTETS = 32;
const NONCE_OCTETS = 16;
const SIGNATURE_OCTETS = 64;
/** What stands before the 32 octets in PKCS #8 and in SubjectPublicKeyInfo (RFC 8410 §7, §4). */
const PKCS8 = Buffer.from('302e020100300506032b657004220420', 'hex');
const SPKI = Buffer.from('302a300506032b6570032100', 'hex');

/** Letters, digits and hyphens: it stands in a signed text, in headers and in logs. */
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

/** Undefined when the text is no private key. */
export function readPrivateKey(text: string): KeyObject | undefined {
  const seed = text.startsWith(PRIVATE_PREFIX) ? keyOctets(text.slice(PRIVATE_PREFIX.length)) : undefined;
  return seed && createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: 'der', type: 'pkcs8' });
}

/** Undefined when the text is no public key. */
export function readPublicKey(text: string): KeyObject | undefined {
  const octets = keyOctets(text);
  return octets && createPublicKey({ key: Buffer.concat([SPKI, octets]), format: 'der', type: 'spki' });
}

/** As text, of a private key. */
export function publicKeyOf(privateKey: KeyObject): string {
  const der = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  return der.subarray(SPKI.length).toString('base64url');
}

/** By which people compare keys: 128 bits of the SHA-256 of the public key's octets, in hex. */
export function fingerprintOf(publicKey: string): string {
  const hash = createHash('sha256').update(Buffer.from(publicKey, 'base64url')).digest('hex');
  return (hash.slice(0, 2 * NONCE_OCTETS).match(/.{4}/g) as string[]).join(':');
}

/** The headers of a request. */
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

/** Undefined when a header is missing, comes twice or has another form. Names are in lower case, as Node gives them. */
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

/** The caller has to see besides that the nonce is new, and that the body is that of the digest. */
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

/** As the header has it. */
export function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex');
}

/** The same octets have one text only, so a key cannot be stored twice. */
function keyOctets(text: string): Buffer | undefined {
  const octets = Buffer.from(text, 'base64url');
  return octets.length === KEY_OCTETS && octets.toString('base64url') === text ? octets : undefined;
}
