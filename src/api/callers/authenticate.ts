// Finds the API key or session that a request presents, and its account. The result is never cached: a revoked key or
// an ended session must stop working immediately, and a lookup by hash costs little compared to the other queries of
// a call.

import type { IncomingHttpHeaders } from 'node:http';
import { type FoundKey, findApiKeys, hashKey, isKeyText } from '../../store/accounts/api-keys.ts';
import { hashSecret, isSecretText } from '../../store/accounts/hashed-secrets.ts';
import { type FoundToken, findTokens, isTokenText } from '../../store/accounts/reseller-tokens.ts';
import { type Carrier, type FoundSession, findSessions } from '../../store/people/sessions.ts';
import type { Database } from '../../store/postgres/database.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { badRequest, PROBLEM_CODES, Problem, unauthorized } from '../answers/problem.ts';
import { isSessionValid } from '../people/sessions.ts';
import { type ApiCaller, WHOLE_SCOPE } from './caller.ts';
import { KeyLookups, WrongKeys } from './key-lookups.ts';

const CREDENTIALS = ['Authorization', 'X-Api-Key'];

/** Rejects repeated credential headers: Node ignores a second `Authorization` and joins a second `X-Api-Key`. */
export function judgeCredentials(rawHeaders: readonly string[]): Problem | undefined {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const repeated = CREDENTIALS.find((header) => {
    const name = header.toLowerCase();
    return names.indexOf(name) !== names.lastIndexOf(name);
  });
  return repeated === undefined ? undefined : badRequest(`the ${repeated} header is present more than once`);
}

type Presented =
  | { readonly kind: 'key' | 'token'; readonly text: string }
  | { readonly kind: 'session'; readonly text: string; readonly carrier: Carrier };

/** Returns true if a header presents a credential, even an invalid one. Cookies are then ignored. */
export function presentsHeader({ authorization, 'x-api-key': plain }: IncomingHttpHeaders): boolean {
  return authorization !== undefined || plain !== undefined;
}

/**
 * Returns the credential that the request presents. `Authorization: Bearer` and `X-Api-Key` are equivalent for API
 * keys. Two different credentials are treated as none. The same applies to a credential that does not belong here: a
 * cookie on the reseller surface, or a machine token anywhere else.
 */
function presented(headers: IncomingHttpHeaders, shown: Shown): Presented | undefined {
  const { cookie, isReseller, isCompat, takesPassword = isCompat } = shown;
  const { authorization, 'x-api-key': plain } = headers;
  if (!presentsHeader(headers)) {
    const isSession = !isReseller && !isCompat && cookie !== undefined && isSecretText('ses_', cookie);
    return isSession ? { kind: 'session', text: cookie, carrier: 'cookie' } : undefined;
  }
  const bearer =
    (authorization && /^Bearer +(\S+) *$/i.exec(authorization)?.[1]) ??
    (takesPassword && !isFromPage(headers) ? keyAsPassword(authorization) : undefined);
  if (authorization !== undefined && bearer === undefined) return undefined;
  const found = new Set([bearer, typeof plain === 'string' ? plain.trim() : undefined].filter(Boolean));
  const [text] = found;
  if (found.size !== 1 || text === undefined) return undefined;
  if (isKeyText(text)) return { kind: 'key', text };
  if (isCompat) return undefined;
  if (isReseller && plain === undefined && isTokenText(text)) return { kind: 'token', text };
  const isSession = plain === undefined && isSecretText('ses_', text);
  return isSession ? { kind: 'session', text, carrier: 'bearer' } : undefined;
}

/**
 * Returns true if a page sent the request: browsers add a remembered password to requests of any page (CSRF). Browsers without
 * `Sec-Fetch-Site` send at least `Origin` with a POST.
 */
function isFromPage({ origin, 'sec-fetch-site': site = 'none' }: IncomingHttpHeaders): boolean {
  return site !== 'none' || origin !== undefined;
}

/** Returns the API key that is the password of `Authorization: Basic` (RFC 7617 §2). */
function keyAsPassword(authorization: string | undefined): string | undefined {
  const encoded = authorization && /^Basic +([A-Za-z0-9+/=]+) *$/i.exec(authorization)?.[1];
  if (!encoded) return undefined;
  const password = /^[^:]*:(\S+)$/.exec(Buffer.from(encoded, 'base64').toString())?.[1];
  return password !== undefined && isKeyText(password) ? password : undefined;
}

interface Shown {
  readonly cookie?: string | undefined;
  /** True on a compatibility surface: only API keys are accepted. */
  readonly isCompat?: boolean;
  /** True if an API key is accepted as the password of `Authorization: Basic`. Default: `isCompat`. */
  readonly takesPassword?: boolean | undefined;
  /** True if the path is on the reseller surface. */
  readonly isReseller?: boolean;
}

interface KnownCredentials {
  readonly tokens: KeyLookups<FoundToken>;
  readonly keys: KeyLookups<FoundKey>;
  readonly sessions: KeyLookups<FoundSession & { readonly state: 'valid' | 'expired' }>;
  readonly wrong: WrongKeys;
}

export function openCredentials(db: Database): KnownCredentials {
  return {
    keys: new KeyLookups((hashes) => findApiKeys(db, hashes)),
    tokens: new KeyLookups((hashes) => findTokens(db, hashes)),
    sessions: new KeyLookups(async (hashes) => {
      const found = await findSessions(db, hashes);
      return new Map([...found].map(([hash, session]) => [hash, { ...session, state: stateOf(session) }]));
    }),
    wrong: new WrongKeys(),
  };
}

function stateOf({ session, account, now }: FoundSession): 'valid' | 'expired' {
  return isSessionValid(session, account, now) ? 'valid' : 'expired';
}

/** Does not check whether the account is active. That happens later, after the request was counted. */
export async function authenticate(
  known: KnownCredentials,
  headers: IncomingHttpHeaders,
  { address, ...shown }: Shown & { readonly address: string },
): Promise<ApiCaller | Problem> {
  const given = presented(headers, shown);
  if (given === undefined) return unauthorized();
  const hash = given.kind === 'key' ? hashKey(given.text) : hashSecret(given.text);
  const early = known.wrong.judge(address, hash);
  if (early !== undefined) return tooManyWrongKeys(early);
  const caller =
    given.kind === 'session'
      ? await sessionCaller(known, hash, given.carrier, address)
      : await (given.kind === 'key' ? keyCaller : tokenCaller)(known, hash, address);
  if (caller !== undefined) return caller;
  const late = known.wrong.note(address, hash);
  return late === undefined ? unauthorized() : tooManyWrongKeys(late);
}

async function keyCaller(
  { keys }: KnownCredentials,
  hash: Buffer,
  address: string,
): Promise<ApiCaller | undefined> {
  const found = await keys.find(hash);
  if (found?.state !== 'valid') return undefined;
  const { id, expiresAt } = found.credential;
  const { account, credential: key } = found;
  return { account, credential: { kind: 'key', id, expiresAt }, key, address };
}

async function tokenCaller(
  { tokens }: KnownCredentials,
  hash: Buffer,
  address: string,
): Promise<ApiCaller | undefined> {
  const found = await tokens.find(hash);
  if (found?.state !== 'valid') return undefined;
  const { id, expiresAt } = found.credential;
  return { account: found.account, credential: { kind: 'token', id, expiresAt }, key: WHOLE_SCOPE, address };
}

/** A session token is valid only with its original carrier: a cookie's token is not a bearer token. */
async function sessionCaller(
  { sessions }: KnownCredentials,
  hash: Buffer,
  carrier: Carrier,
  address: string,
): Promise<ApiCaller | Problem | undefined> {
  try {
    const found = await sessions.find(hash);
    if (found?.state !== 'valid' || found.session.carrier !== carrier) return undefined;
    const { account, session, now } = found;
    return { account, credential: { kind: 'session', session, now }, key: WHOLE_SCOPE, address };
  } catch (error) {
    if (outageOf(error) === undefined) throw error;
    return new Problem(
      PROBLEM_CODES.session_check_failed,
      'the session cannot be checked now; keep it, and try again',
      {
        code: 'session_check_failed',
        headers: { 'Retry-After': '1' },
      },
    );
  }
}

function tooManyWrongKeys(seconds: number): Problem {
  const headers = { 'Retry-After': String(seconds) };
  return new Problem(429, 'too many wrong API keys from this address', { headers });
}

const TOUCH_INTERVAL_MS = 60_000;

type Touch = (db: Database, id: number) => Promise<void>;

/** Records the last use of API keys or sessions, about once per minute, without delaying requests. */
export class KeyUses {
  readonly #db: Database;
  readonly #touch: Touch;
  readonly #nowMs: () => number;
  readonly #touchedMs = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();

  constructor(db: Database, touch: Touch, nowMs: () => number = Date.now) {
    this.#db = db;
    this.#touch = touch;
    this.#nowMs = nowMs;
  }

  note(id: number): void {
    const nowMs = this.#nowMs();
    if (nowMs - (this.#touchedMs.get(id) ?? Number.NEGATIVE_INFINITY) < TOUCH_INTERVAL_MS) return;
    this.#touchedMs.set(id, nowMs);
    const touching = this.#touch(this.#db, id)
      .catch(() => this.#touchedMs.delete(id))
      .then(() => {
        this.#running.delete(touching);
      });
    this.#running.add(touching);
    if (this.#touchedMs.size > 10_000) this.#touchedMs.clear();
  }

  /** Must be called before the database is closed. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
