// TSIG (RFC 8945): reads the TSIG record of a message, verifies requests and signs messages. `tsig-stream.ts` does so for
// responses of several messages. No message causes an exception.

import { createHmac, type Hmac, timingSafeEqual } from 'node:crypto';
import { decodeName, foldCase, type Name, parseName } from '../name.ts';
import { CLASS, TYPE } from '../type-codes.ts';
import { HEADER_OCTETS } from './header.ts';

export type TsigAlgorithm = 'hmac-sha256' | 'hmac-sha384' | 'hmac-sha512';

export interface TsigKey {
  /** In lower case. */
  readonly name: Name;
  readonly algorithm: TsigAlgorithm;
  readonly secret: Uint8Array;
}

/** TSIG errors, RFC 8945 §3. */
export const TSIG_ERROR = { BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const;

const ERROR_NAMES = new Map<number, string>(Object.entries(TSIG_ERROR).map(([name, code]) => [code, name]));

/** Returns the name of the error, such as 'BADSIG'. */
export function tsigErrorName(error: number): string {
  return ERROR_NAMES.get(error) ?? `TSIG error ${error}`;
}

export interface TsigRecord {
  /** Offset of the record in its message. */
  readonly start: number;
  /** In lower case. */
  readonly keyName: Name;
  /** In lower case. */
  readonly algorithmName: Name;
  /** Seconds since 1970, 48 bits. */
  readonly timeSigned: number;
  readonly fudge: number;
  readonly mac: Uint8Array;
  readonly originalId: number;
  readonly error: number;
  readonly otherData: Uint8Array;
}

interface SignOptions {
  readonly nowSeconds: number;
  /** MAC of the request, for a response; of the previous signed message, for a later message of a stream. */
  readonly requestMac?: Uint8Array;
  readonly error?: number;
  readonly otherData?: Uint8Array;
  /** True for all messages of a stream but the first (RFC 8945 §5.3.1). */
  readonly isTimersOnly?: boolean;
  /** Seconds by which clocks may differ, 300 if undefined. */
  readonly fudge?: number;
}

interface Algorithm {
  readonly name: Name;
  readonly hash: string;
  readonly macOctets: number;
}

const ALGORITHMS: Readonly<Record<TsigAlgorithm, Algorithm>> = {
  'hmac-sha256': { name: parseName('hmac-sha256.'), hash: 'sha256', macOctets: 32 },
  'hmac-sha384': { name: parseName('hmac-sha384.'), hash: 'sha384', macOctets: 48 },
  'hmac-sha512': { name: parseName('hmac-sha512.'), hash: 'sha512', macOctets: 64 },
};
const MAC_OCTETS = new Map<Name, number>(
  Object.values(ALGORITHMS).map(({ name, macOctets }) => [name, macOctets]),
);

const MAX_FUDGE = 300; // recommended in RFC 8945 §10
const RECORD_HEAD_OCTETS = 10; // type, class, TTL, RDLENGTH
/** Octets of the rdata without the algorithm's name, the MAC and Other Data. */
const FIXED_RDATA_OCTETS = 16;
const NO_OCTETS = new Uint8Array(0);
const NONE = { kind: 'none' } as const;
const MALFORMED = { kind: 'malformed' } as const;
const OK = { kind: 'ok' } as const;

/**
 * Finds the TSIG record at the end of a message. Returns 'malformed' (FORMERR, §5.2) if a record is truncated, octets
 * follow a TSIG record, or its fields are not valid.
 */
export function readTsig(
  message: Uint8Array,
): { kind: 'none' } | { kind: 'malformed' } | { kind: 'found'; tsig: TsigRecord } {
  if (message.length < HEADER_OCTETS) return MALFORMED;
  let at = HEADER_OCTETS;
  for (let i = uint16(message, 4); i > 0; i--) {
    at = nameEnd(message, at) + 4;
    if (!(at <= message.length)) return MALFORMED; // true for NaN, too
  }
  const additionals = uint16(message, 10);
  for (let left = uint16(message, 6) + uint16(message, 8) + additionals; left > 0; left--) {
    const fields = nameEnd(message, at);
    const end = fields + RECORD_HEAD_OCTETS + uint16(message, fields + 8);
    if (!(end <= message.length)) return MALFORMED;
    if (uint16(message, fields) === TYPE.TSIG) {
      if (left > 1 || additionals === 0 || end !== message.length) return MALFORMED;
      const tsig = decodeTsig(message, at, fields);
      return tsig === undefined ? MALFORMED : { kind: 'found', tsig };
    }
    at = end;
  }
  return NONE;
}

/** Returns the offset after the name at `at`, or NaN if it is truncated or has a label of an unknown type. */
export function nameEnd(message: Uint8Array, at: number): number {
  for (;;) {
    const length = message[at];
    if (length === undefined) return Number.NaN;
    if (length === 0) return at + 1;
    if (length >= 0xc0) return at + 2;
    if (length > 63) return Number.NaN;
    at += 1 + length;
  }
}

/** Decodes the record with its owner at `start` and its type at `fields`. Returns undefined if it is malformed. */
function decodeTsig(message: Uint8Array, start: number, fields: number): TsigRecord | undefined {
  const rdata = fields + RECORD_HEAD_OCTETS;
  if (uint16(message, fields + 2) !== CLASS.ANY || uint32(message, fields + 4) !== 0) return undefined;
  const keyName = nameAt(message, start);
  const algorithmName = nameAt(message, rdata);
  if (keyName === undefined || algorithmName === undefined) return undefined;
  const time = rdata + algorithmName.length;
  // A compressed algorithm name is not allowed (RFC 3597 §4). It never has as many octets as the name itself.
  if (nameEnd(message, rdata) !== time) return undefined;
  const mac = time + 10;
  const macEnd = mac + uint16(message, time + 8);
  // Fields that are missing read as 0, and the sum is too large.
  if (macEnd + 6 + uint16(message, macEnd + 4) !== message.length) return undefined;
  const error = uint16(message, macEnd + 2);
  const isResponse = ((message[2] as number) & 0x80) !== 0;
  const isErrorAnswer = isResponse && error !== 0;
  if (mac === macEnd ? !isErrorAnswer : !isMacSizeValid(algorithmName, macEnd - mac)) return undefined;
  return {
    start,
    keyName,
    algorithmName,
    timeSigned: uint16(message, time) * 2 ** 32 + uint32(message, time + 2),
    fudge: uint16(message, time + 6),
    mac: message.subarray(mac, macEnd),
    originalId: uint16(message, macEnd),
    error,
    otherData: message.subarray(macEnd + 6),
  };
}

function nameAt(message: Uint8Array, at: number): Name | undefined {
  try {
    return foldCase(decodeName(message, at).name);
  } catch {
    return undefined;
  }
}

/** Checks the size of a MAC (§5.2.2.1). Any size is valid for an unsupported algorithm: the result is BADKEY. */
function isMacSizeValid(algorithm: Name, octets: number): boolean {
  const full = MAC_OCTETS.get(algorithm);
  return full === undefined || (octets <= full && octets >= Math.max(10, full / 2));
}

/** Checks a request in the order of RFC 8945 §5.2: key, MAC, time, truncation. */
export function verifyRequest(
  message: Uint8Array,
  tsig: TsigRecord,
  key: TsigKey,
  nowSeconds: number,
): { kind: 'ok' } | { kind: 'bad'; error: number } {
  if (!isMadeWith(tsig, key)) return { kind: 'bad', error: TSIG_ERROR.BADKEY };
  const digest = startDigest(key, undefined);
  digestMessage(digest, message, tsig);
  digestVariables(digest, key, tsig);
  const error = checkMac(digest, tsig, key, nowSeconds);
  return error === 0 ? OK : { kind: 'bad', error };
}

/** Returns true if the record names this key and its algorithm. */
export function isMadeWith(tsig: TsigRecord, key: TsigKey): boolean {
  return tsig.keyName === key.name && tsig.algorithmName === ALGORITHMS[key.algorithm].name;
}

/** Compares the MAC, then checks time and truncation. Returns the error, or 0. */
export function checkMac(digest: Hmac, tsig: TsigRecord, key: TsigKey, nowSeconds: number): number {
  const { name, macOctets } = ALGORITHMS[key.algorithm];
  if (!isMacSizeValid(name, tsig.mac.length)) return TSIG_ERROR.BADSIG;
  const expected = digest.digest();
  if (!timingSafeEqual(tsig.mac, expected.subarray(0, tsig.mac.length))) return TSIG_ERROR.BADSIG;
  if (!(Math.abs(nowSeconds - tsig.timeSigned) <= Math.min(tsig.fudge, MAX_FUDGE))) return TSIG_ERROR.BADTIME;
  return tsig.mac.length < macOctets ? TSIG_ERROR.BADTRUNC : 0;
}

/** Begins a digest. `priorMac` is the MAC of the request, or of the previous message of a stream (§4.3.1, §5.3.1). */
export function startDigest(key: TsigKey, priorMac: Uint8Array | undefined): Hmac {
  const digest = createHmac(ALGORITHMS[key.algorithm].hash, key.secret);
  if (priorMac === undefined) return digest;
  return digest.update(Uint8Array.of(priorMac.length >> 8, priorMac.length)).update(priorMac);
}

/** Digests a message as it was before the TSIG record was added (§4.3.2). */
export function digestMessage(digest: Hmac, message: Uint8Array, tsig: TsigRecord): void {
  digest.update(headerWith(message, tsig.originalId, -1)).update(message.subarray(HEADER_OCTETS, tsig.start));
}

type Variables = Pick<TsigRecord, 'timeSigned' | 'fudge' | 'error' | 'otherData'>;

/** Digests the TSIG variables (§4.3.3). */
export function digestVariables(digest: Hmac, key: TsigKey, variables: Variables): void {
  const { name, algorithm } = key;
  const algorithmName = ALGORITHMS[algorithm].name;
  const octets = Buffer.allocUnsafe(name.length + algorithmName.length + 18);
  let at = octets.write(name, 'latin1');
  at = octets.writeUInt16BE(CLASS.ANY, at);
  at = octets.writeUInt32BE(0, at); // TTL
  at += octets.write(algorithmName, at, 'latin1');
  at = writeTimers(octets, at, variables);
  at = octets.writeUInt16BE(variables.error, at);
  octets.writeUInt16BE(variables.otherData.length, at);
  digest.update(octets).update(variables.otherData);
}

/** Digests the TSIG timers (§5.3.1). */
export function digestTimers(digest: Hmac, variables: Variables): void {
  const octets = Buffer.allocUnsafe(8);
  writeTimers(octets, 0, variables);
  digest.update(octets);
}

function writeTimers(octets: Buffer, at: number, { timeSigned, fudge }: Variables): number {
  return octets.writeUInt16BE(fudge, octets.writeUIntBE(timeSigned, at, 6));
}

/** Returns the message with a TSIG record appended, and its MAC. */
export function signMessage(
  message: Uint8Array,
  key: TsigKey,
  options: SignOptions,
): { message: Uint8Array; mac: Uint8Array } {
  const fields = {
    keyName: key.name,
    algorithmName: ALGORITHMS[key.algorithm].name,
    timeSigned: options.nowSeconds,
    fudge: options.fudge ?? MAX_FUDGE,
    originalId: uint16(message, 0),
    error: options.error ?? 0,
    otherData: options.otherData ?? NO_OCTETS,
  };
  const digest = startDigest(key, options.requestMac);
  digest.update(message);
  if (options.isTimersOnly === true) digestTimers(digest, fields);
  else digestVariables(digest, key, fields);
  const mac = digest.digest();
  return { message: appendTsig(message, { ...fields, mac }), mac };
}

/**
 * Returns the answer to a request that `verifyRequest` did not accept, with a TSIG record. BADKEY and BADSIG answers are
 * not signed (RFC 8945 §5.3.2). A BADTIME answer has the time of the client, so that the client can verify it, and the
 * server's time in Other Data (§5.2.3).
 */
export function signErrorAnswer(
  message: Uint8Array,
  tsig: TsigRecord,
  key: TsigKey | undefined,
  error: number,
  nowSeconds: number,
): Uint8Array {
  const isBadTime = error === TSIG_ERROR.BADTIME;
  const { mac: requestMac, timeSigned, fudge } = tsig;
  if (key === undefined || (!isBadTime && error !== TSIG_ERROR.BADTRUNC)) {
    const originalId = uint16(message, 0);
    return appendTsig(message, { ...tsig, mac: NO_OCTETS, originalId, error, otherData: NO_OCTETS });
  }
  if (!isBadTime) return signMessage(message, key, { nowSeconds, requestMac, error }).message;
  const otherData = Buffer.allocUnsafe(6);
  otherData.writeUIntBE(nowSeconds, 0, 6);
  return signMessage(message, key, { nowSeconds: timeSigned, fudge, requestMac, error, otherData }).message;
}

function appendTsig(message: Uint8Array, tsig: Omit<TsigRecord, 'start'>): Uint8Array {
  const { keyName, algorithmName, mac, otherData } = tsig;
  const rdataOctets = algorithmName.length + FIXED_RDATA_OCTETS + mac.length + otherData.length;
  const size = message.length + keyName.length + RECORD_HEAD_OCTETS + rdataOctets;
  const octets = Buffer.allocUnsafeSlow(size); // not from the pool, so that it can be transferred to another thread
  octets.set(message);
  octets.set(headerWith(message, uint16(message, 0), 1));
  // §4.2. Neither name is compressed.
  let at = message.length;
  at += octets.write(keyName, at, 'latin1');
  at = octets.writeUInt16BE(TYPE.TSIG, at);
  at = octets.writeUInt16BE(CLASS.ANY, at);
  at = octets.writeUInt32BE(0, at); // TTL
  at = octets.writeUInt16BE(rdataOctets, at);
  at += octets.write(algorithmName, at, 'latin1');
  at = writeTimers(octets, at, tsig);
  at = octets.writeUInt16BE(mac.length, at);
  octets.set(mac, at);
  at = octets.writeUInt16BE(tsig.originalId, at + mac.length);
  at = octets.writeUInt16BE(tsig.error, at);
  at = octets.writeUInt16BE(otherData.length, at);
  octets.set(otherData, at);
  return octets;
}

/** Returns the size of the TSIG record that `signMessage` appends if there is no Other Data. */
export function tsigOctets({ name, algorithm }: TsigKey): number {
  const { name: algorithmName, macOctets } = ALGORITHMS[algorithm];
  return name.length + RECORD_HEAD_OCTETS + algorithmName.length + FIXED_RDATA_OCTETS + macOctets;
}

/** Returns the message without its TSIG record. */
export function withoutTsig(message: Uint8Array, tsig: TsigRecord): Uint8Array {
  const octets = new Uint8Array(message.subarray(0, tsig.start));
  octets.set(headerWith(message, uint16(message, 0), -1));
  return octets;
}

/** Returns the header with this id, and `change` added to the number of additional records. */
function headerWith(message: Uint8Array, id: number, change: number): Uint8Array {
  const header = new Uint8Array(message.subarray(0, HEADER_OCTETS)); // not slice, which does not copy a Buffer
  const additionals = uint16(message, 10) + change;
  header[0] = id >> 8;
  header[1] = id;
  header[10] = additionals >> 8;
  header[11] = additionals;
  return header;
}

function uint16(octets: Uint8Array, at: number): number {
  return ((octets[at] as number) << 8) | (octets[at + 1] as number);
}

function uint32(octets: Uint8Array, at: number): number {
  return uint16(octets, at) * 2 ** 16 + uint16(octets, at + 2);
}
