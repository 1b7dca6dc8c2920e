// Compresses long responses (RFC 9110 §8.4), on the threads of libuv. Not a plugin of the framework, because a hook would run
// for every response, and because routes opt in: a compressed response that mixes secrets with text that others can choose
// would reveal the secrets by its length (BREACH).

import { pipeline, Readable, type Transform } from 'node:stream';
import { brotliCompressSync, constants, createBrotliCompress, createGzip, gzipSync } from 'node:zlib';

type Encoding = 'br' | 'gzip';

export interface Accepted {
  readonly encoding: Encoding;
  /** True if the client refuses responses without an encoding. */
  readonly isRequired: boolean;
}

const MAX_HEADER_CHARACTERS = 1024;
const WEIGHT = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i;
const TOKEN = /^[!#$%&'*+.^_`|~\w-]+$/;

/** Returns undefined if the client accepts neither encoding, and for a header that is not valid (RFC 9110 §12.5.3). */
export function acceptedEncoding(header: string | undefined): Accepted | undefined {
  if (header === undefined || header.length > MAX_HEADER_CHARACTERS) return undefined;
  const weights = new Map<string, number>();
  for (const item of header.split(',')) {
    const [coding = '', weight, ...more] = item.split(';').map((part) => part.trim());
    if (coding === '' && weight === undefined) continue; // RFC 9110 §5.6.1: empty elements are ignored
    const value = weight === undefined ? 1 : Number(WEIGHT.exec(weight)?.[1]);
    if (!TOKEN.test(coding) || Number.isNaN(value) || more.length > 0) return undefined;
    weights.set(coding.toLowerCase().replace(/^x-gzip$/, 'gzip'), value);
  }
  const weightOf = (coding: string) => weights.get(coding) ?? weights.get('*') ?? 0;
  const [br, gzip] = [weightOf('br'), weightOf('gzip')];
  if (br === 0 && gzip === 0) return undefined;
  const identity = weights.get('identity') ?? weights.get('*');
  if (identity !== undefined && identity > Math.max(br, gzip)) return undefined;
  return { encoding: br >= gzip ? 'br' : 'gzip', isRequired: identity === 0 };
}

/** Shorter responses are sent as they are, unless the client refuses that. */
const MIN_LENGTH = 32_768;
/** Beyond this number, responses are sent as they are. Each holds about 1 MiB until the client has read it. */
const MAX_RUNNING = 16;
/** The fastest levels that halve the length again: records are compressed to less than a tenth. */
const GZIP = { level: 2 };
const BROTLI = {
  params: { [constants.BROTLI_PARAM_QUALITY]: 2, [constants.BROTLI_PARAM_LGWIN]: 18 },
};
let running = 0;

interface Encoded<B> {
  readonly body: B;
  /** Undefined if the body was not changed. */
  readonly encoding: Encoding | undefined;
}

/** The result reads from the body no faster than the client reads. An error of the body also ends the result. */
export function encodeBody(
  body: Readable | string | Buffer,
  accepted: Accepted | undefined,
): Encoded<Readable | string | Buffer> {
  const isLong = body instanceof Readable || body.length >= MIN_LENGTH;
  if (accepted === undefined || running >= MAX_RUNNING || !(isLong || accepted.isRequired))
    return { body, encoding: undefined };
  const { encoding } = accepted;
  const encoder: Transform = encoding === 'br' ? createBrotliCompress(BROTLI) : createGzip(GZIP);
  running++;
  encoder.once('close', () => running--);
  const source =
    body instanceof Readable ? body : Readable.from([typeof body === 'string' ? Buffer.from(body) : body]);
  pipeline(source, encoder, () => {});
  return { body: encoder, encoding };
}

/** Does the same in a thread for large calls, which has nothing else to do meanwhile. */
export function encodeOctets(body: Uint8Array, accepted: Accepted | undefined): Encoded<Uint8Array> {
  const isLong = body.length >= MIN_LENGTH;
  if (accepted === undefined || !(isLong || accepted.isRequired)) return { body, encoding: undefined };
  const { encoding } = accepted;
  const octets = encoding === 'br' ? brotliCompressSync(body, BROTLI) : gzipSync(body, GZIP);
  return { body: Uint8Array.from(octets), encoding }; // a buffer of its own, which can be transferred
}
