// Reads the responses of a certificate authority, and classifies its errors.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent } from 'node:https';
import type { Authorization, Order } from 'acme-client';
import acme from 'acme-client';
import { boundSignal } from '../../process/bound-signal.ts';

/** `busy`: the request may succeed later. `refused`: the authority rejects it. */
export class CaFault extends Error {
  override readonly name = 'CaFault';
  readonly kind: 'busy' | 'refused';
  /** Type of the problem (RFC 8555 §6.7), without its prefix. */
  readonly type: string | undefined;
  readonly status: number | undefined;
  /** How long the authority asks the client to wait. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: CaFault['kind'],
    message: string,
    more: {
      readonly type?: string | undefined;
      readonly status?: number | undefined;
      readonly retryAfterMs?: number | undefined;
      readonly cause?: unknown;
    } = {},
  ) {
    super(message, { cause: more.cause });
    this.kind = kind;
    this.type = more.type;
    this.status = more.status;
    this.retryAfterMs = more.retryAfterMs;
  }
}

const PREFIX = 'urn:ietf:params:acme:error:';
const MAX_WORDS = 300;

/** Converts a response that is not a success. */
function faultOf(
  status: number,
  headers: Readonly<Record<string, unknown>>,
  body: unknown,
  now: Date,
): CaFault {
  const { type, detail, subproblems } = ((typeof body === 'object' ? body : undefined) ?? {}) as Record<
    string,
    unknown
  >;
  const short = typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : undefined;
  const words = wordsOf(detail, subproblems) ?? `the authority responded with status ${status}`;
  const isBusy =
    status < 400 || status === 429 || status >= 500 || short === 'rateLimited' || short === 'badNonce';
  return new CaFault(isBusy ? 'busy' : 'refused', words, {
    type: short,
    status,
    retryAfterMs: readRetryAfter(headers['retry-after'], now),
  });
}

/** Returns printable ASCII, because owners see the text. */
export function wordsOf(detail: unknown, subproblems?: unknown): string | undefined {
  const parts = [detail, ...(Array.isArray(subproblems) ? subproblems.map((one) => one?.detail) : [])];
  const text = parts.filter((part): part is string => typeof part === 'string').join('; ');
  return text === '' ? undefined : text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, MAX_WORDS);
}

/** Parses a number of seconds, or a date (RFC 9110 §10.2.3). */
export function readRetryAfter(header: unknown, now: Date): number | undefined {
  if (typeof header !== 'string') return undefined;
  if (/^\d{1,9}$/.test(header)) return Number(header) * 1000;
  const at = Date.parse(header);
  return Number.isNaN(at) ? undefined : Math.max(0, at - now.getTime());
}

const STATUSES = ['pending', 'ready', 'processing', 'valid', 'invalid'];
/** No order of the fleet has more names. */
const MOST_NAMES = 100;
const MOST_CHARACTERS = 512;

export function isDirectory(answer: unknown): boolean {
  const { newNonce, newAccount, newOrder } = membersOf(answer);
  return [newNonce, newAccount, newOrder].every(isText);
}

/** Validates an order (RFC 8555 §7.1.3). Throws CaFault. */
export function judgeOrder(answer: Order): Order {
  const { status, identifiers, url } = membersOf(answer);
  const isNamed =
    Array.isArray(identifiers) &&
    identifiers.length <= MOST_NAMES &&
    identifiers.every((one) => isText(membersOf(one).value));
  if (STATUSES.includes(status as string) && isNamed && isText(url)) return answer;
  throw new CaFault('busy', 'the authority did not return an order');
}

/** Returns the URLs of the authorizations. Throws CaFault. */
export function judgeAuthorizations({ authorizations }: Order): readonly string[] {
  const urls: unknown = authorizations;
  if (Array.isArray(urls) && urls.length <= MOST_NAMES && urls.every(isText)) return urls;
  throw new CaFault('busy', 'the order has no authorizations');
}

/** Validates an authorization (RFC 8555 §7.1.4). Throws CaFault. */
export function judgeAuthorization(answer: Authorization): Authorization {
  const { identifier, challenges } = membersOf(answer);
  const isProvable = Array.isArray(challenges) && challenges.every(isChallenge);
  if (isText(membersOf(identifier).value) && isProvable) return answer;
  throw new CaFault('busy', 'the authority did not return an authorization');
}

/** Requires base64url tokens of at least 128 bits (RFC 8555 §8.1), because edges serve them in a path. */
function isChallenge(challenge: unknown): boolean {
  const { type, url, token } = membersOf(challenge);
  if (type !== 'dns-01' && type !== 'http-01') return true; // never used
  return isText(url) && typeof token === 'string' && /^[A-Za-z0-9_-]{16,256}$/.test(token);
}

function membersOf(answer: unknown): Record<string, unknown> {
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && value.length <= MOST_CHARACTERS;
}

const MAX_BYTES = 1024 * 1024;

interface Surrounding {
  readonly agent: Agent;
  readonly signal: AbortSignal;
  readonly requestMs: number;
  /** True if the directory is on this machine. Only then may it name URLs on this machine. */
  readonly isHere: boolean;
}

/** Identifies the caller of a request, because acme-client has one HTTP client for all. */
const around = new AsyncLocalStorage<Surrounding>();

Object.assign((acme.axios.defaults as unknown as { acmeSettings: object }).acmeSettings, {
  retryMaxAttempts: 0,
});
acme.axios.defaults.headers.common['User-Agent'] = 'zonefleet';
acme.axios.interceptors.request.use((config) => {
  const here = around.getStore();
  const problem = here === undefined ? 'the request has no caller' : judgeUrl(config.url, here.isHere);
  if (here === undefined || problem !== undefined) throw new CaFault('refused', problem ?? '');
  config.httpsAgent = here.agent;
  config.proxy = false;
  config.maxRedirects = 0;
  config.maxContentLength = MAX_BYTES;
  config.timeout = here.requestMs;
  config.signal = boundSignal(here.signal, here.requestMs);
  return config;
});
acme.axios.interceptors.response.use((response) => {
  const { status, headers, data } = response;
  const isNonce = status === 400 && String(data?.type).endsWith(':badNonce'); // the package retries with a new nonce
  if (status < 300 || isNonce) return response;
  throw faultOf(status, headers as Record<string, unknown>, data, new Date());
});

/** Returns why a URL of an authority must not be requested, or undefined if it may be. */
export function judgeUrl(text: unknown, isDirectoryHere: boolean): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return 'the authority returned an invalid URL';
  const url = new URL(text);
  if (isHere(text))
    return isDirectoryHere ? undefined : 'the authority returned a URL of this machine, but is not on it';
  return url.protocol === 'https:' ? undefined : 'the authority returned a URL that is not https';
}

/** True if the URL leads to this machine. */
export function isHere(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|\[::\])$/.test(new URL(url).hostname);
}

/** Applies the agent and the limits to all requests of `work`. */
export async function askWithin<T>(surrounding: Surrounding, work: () => Promise<T>): Promise<T> {
  return await around.run(surrounding, work);
}
