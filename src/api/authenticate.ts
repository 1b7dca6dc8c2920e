// Which key a request presents, and whose it is. No answer is cached: a revoked key must not work a moment longer, and one
// read by the hash's index is little beside what every call asks of Postgres anyway.

import type { IncomingHttpHeaders } from 'node:http';
import { findApiKeys, hashKey, isKeyText, touchApiKey } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import type { Caller } from './caller.ts';
import { KeyLookups } from './key-lookups.ts';
import { badRequest, Problem, unauthorized } from './problem.ts';
import { WrongKeys } from './wrong-keys.ts';

const CREDENTIALS = ['Authorization', 'X-Api-Key'];

/** Node ignores a second `Authorization` and joins a second `X-Api-Key`: which of them counts is not for us to guess. */
export function judgeCredentials(rawHeaders: readonly string[]): Problem | undefined {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const repeated = CREDENTIALS.find((header) => {
    const name = header.toLowerCase();
    return names.indexOf(name) !== names.lastIndexOf(name);
  });
  return repeated === undefined ? undefined : badRequest(`the ${repeated} header is there more than once`);
}

/** `Authorization: Bearer` and `X-Api-Key` are equivalent. Two that differ are none. */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, 'x-api-key': plain } = headers;
  const bearer = authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined) return undefined;
  const found = new Set([bearer, typeof plain === 'string' ? plain.trim() : undefined].filter(Boolean));
  const [key] = found;
  return found.size === 1 && key !== undefined && isKeyText(key) ? key : undefined;
}

export interface KnownKeys {
  readonly lookups: KeyLookups;
  readonly wrong: WrongKeys;
}

export function openKeys(db: Database): KnownKeys {
  return { lookups: new KeyLookups((hashes) => findApiKeys(db, hashes)), wrong: new WrongKeys() };
}

/** The account may be deactivated: that is told apart later, after the request has been counted. */
export async function authenticate(
  { lookups, wrong }: KnownKeys,
  headers: IncomingHttpHeaders,
  address: string,
): Promise<Caller | Problem> {
  const text = presentedKey(headers);
  if (text === undefined) return unauthorized();
  const hash = hashKey(text);
  const early = wrong.judge(address, hash);
  if (early !== undefined) return tooManyWrongKeys(early);
  const found = await lookups.find(hash);
  if (found?.state === 'valid') return { account: found.account, key: found.key, address };
  const late = wrong.note(address, hash);
  return late === undefined ? unauthorized() : tooManyWrongKeys(late);
}

function tooManyWrongKeys(seconds: number): Problem {
  const headers = { 'Retry-After': String(seconds) };
  return new Problem(429, 'too many wrong API keys from this address', { headers });
}

const TOUCH_INTERVAL_MS = 60_000;

/** Remembers when keys were last used, about once a minute each; no request waits for it, none fails by it. */
export class KeyUses {
  readonly #db: Database;
  readonly #nowMs: () => number;
  readonly #touchedMs = new Map<number, number>();
  readonly #running = new Set<Promise<void>>();

  constructor(db: Database, nowMs: () => number = Date.now) {
    this.#db = db;
    this.#nowMs = nowMs;
  }

  note(keyId: number): void {
    const nowMs = this.#nowMs();
    if (nowMs - (this.#touchedMs.get(keyId) ?? Number.NEGATIVE_INFINITY) < TOUCH_INTERVAL_MS) return;
    this.#touchedMs.set(keyId, nowMs);
    const touching = touchApiKey(this.#db, keyId)
      .catch(() => this.#touchedMs.delete(keyId))
      .then(() => {
        this.#running.delete(touching);
      });
    this.#running.add(touching);
    if (this.#touchedMs.size > 10_000) this.#touchedMs.clear();
  }

  /** Before the database is closed. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
