// Validates one line reported by an edge, with the fields of a request. Each field is limited, since visitors control most
// of them.

import { clientOctets } from './client-prefix.ts';
import { readHost } from './host-names.ts';
import { isReason, type ReasonKey } from './reasons.ts';

/** Result of the cache. '' if it was not used. */
export const CACHE_STATES = ['hit', 'miss', 'bypass', 'expired', 'stale', 'revalidated'] as const;
type CacheState = (typeof CACHE_STATES)[number];

export interface EdgeRequest {
  readonly atMs: number;
  readonly host: string;
  readonly method: string;
  readonly uri: string;
  /** 0: the visitor got no response. */
  readonly status: number;
  readonly octets: number;
  readonly ms: number;
  readonly client: Uint8Array;
  readonly fingerprint: string | undefined;
  readonly cache: CacheState | '';
  readonly rule: number;
  readonly reason: ReasonKey | '';
  readonly websocket: boolean;
}

/** Why a line is ignored: it is malformed, its time differs too much from ours, or its host is not the edge's. */
type Drop = 'line' | 'time' | 'host';

export const MOST_URI_CHARACTERS = 2048;
const MOST_FINGERPRINT_CHARACTERS = 128;
/** `at` is the edge's time. It may be slightly in the future, and a day in the past if the edge could not reach us. */
const OLDEST_MS = 24 * 3_600_000;
const NEWEST_MS = 5 * 60_000;
/** More than one request can have. */
const MOST_OCTETS = 2 ** 44;
const MOST_MS = 2 ** 32 - 1;
const MOST_RULE = 2 ** 32 - 1;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:Z|[+-]\d\d:\d\d)$/;
/** Never occurs in valid UTF-8. */
const HALF_PAIR = /\p{Surrogate}/gu;
/** RFC 9110 §9.3, RFC 5789, RFC 4918 §9, RFC 3253 §3.6. Visitors can invent any number of others. */
const METHODS = new Set(
  'GET HEAD POST PUT DELETE CONNECT OPTIONS TRACE PATCH PROPFIND PROPPATCH MKCOL COPY MOVE LOCK UNLOCK REPORT SEARCH PURGE'.split(
    ' ',
  ),
);
const OTHER_METHOD = 'OTHER';

/** Parses a line. Unknown members are ignored, so that edges may be newer than the fleet. */
export function judgeLine(text: string, nowMs: number): EdgeRequest | Drop {
  let line: unknown;
  try {
    line = JSON.parse(text);
  } catch {
    return 'line';
  }
  if (typeof line !== 'object' || line === null || Array.isArray(line)) return 'line';
  const { at, host, method, uri, status, octets, ms, client, cache, rule, reason, ...rest } = line as Record<
    string,
    unknown
  >;
  const { tls_fingerprint: fingerprint, websocket } = rest;
  if (typeof at !== 'string' || typeof host !== 'string' || typeof method !== 'string') return 'line';
  if (typeof uri !== 'string' || typeof client !== 'string' || !TIME.test(at)) return 'line';
  if (!isWhole(octets, MOST_OCTETS) || !isWhole(ms, Number.MAX_SAFE_INTEGER) || !isStatus(status))
    return 'line';
  if (!isUnset(cache) && !isCacheState(cache)) return 'line';
  if (!isUnset(rule) && !(isWhole(rule, MOST_RULE) && rule > 0)) return 'line';
  if (!isUnset(reason) && !(typeof reason === 'string' && isReason(reason))) return 'line';
  if (!isUnset(websocket) && typeof websocket !== 'boolean') return 'line';
  if (!isUnset(fingerprint) && !isFingerprint(fingerprint)) return 'line';
  const address = clientOctets(client);
  const atMs = Date.parse(at);
  if (address === undefined || Number.isNaN(atMs)) return 'line';
  if (atMs < nowMs - OLDEST_MS || atMs > nowMs + NEWEST_MS) return 'time';
  const name = readHost(host);
  if (name === undefined) return 'host';
  return {
    atMs,
    host: name,
    method: METHODS.has(method) ? method : OTHER_METHOD,
    uri: uri.slice(0, MOST_URI_CHARACTERS).replace(HALF_PAIR, '\ufffd'),
    status,
    octets,
    ms: Math.min(ms, MOST_MS),
    client: address,
    fingerprint: fingerprint ?? undefined,
    cache: cache ?? '',
    rule: rule ?? 0,
    reason: reason ?? '',
    websocket: websocket === true,
  };
}

function isUnset(value: unknown): value is undefined | null {
  return value === undefined || value === null;
}

function isWhole(value: unknown, most: number): value is number {
  return Number.isInteger(value) && (value as number) >= 0 && (value as number) <= most;
}

function isStatus(value: unknown): value is number {
  return isWhole(value, 999) && (value === 0 || value >= 100);
}

function isCacheState(value: unknown): value is CacheState {
  return CACHE_STATES.includes(value as CacheState);
}

function isFingerprint(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MOST_FINGERPRINT_CHARACTERS;
}
