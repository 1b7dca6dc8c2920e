// Finds which key a request presents, and whose it is. The result is never cached: a revoked key must stop working at
// once, and a look-up by the hash's index costs little beside a call's other queries.

import type { IncomingHttpHeaders } from 'node:http';
import { findApiKeys, hashKey, isKeyText, touchApiKey } from '../../store/accounts/api-keys.ts';
import type { Database } from '../../store/postgres/database.ts';
import { badRequest, Problem, unauthorized } from '../answers/problem.ts';
import type { ApiCaller } from './caller.ts';
import { KeyLookups } from './key-lookups.ts';
import { WrongKeys } from './wrong-keys.ts';

const CREDENTIALS = ['Authorization', 'X-Api-Key'];

/**
 * Refuses two headers of a kind: Node ignores a second `Authorization` and joins a second `X-Api-Key`, so it is unclear
 * which one counts.
 */
export function judgeCredentials(rawHeaders: readonly string[]): Problem | undefined {
  const names = rawHeaders.filter((_, i) => i % 2 === 0).map((name) => name.toLowerCase());
  const repeated = CREDENTIALS.find((header) => {
    const name = header.toLowerCase();
    return names.indexOf(name) !== names.lastIndexOf(name);
  });
  return repeated === undefined ? undefined : badRequest(`the ${repeated} header is there more than once`);
}

/** `Authorization: Bearer` and `X-Api-Key` are equivalent. Two that differ count as no key. */
function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, 'x-api-key': plain } = headers;
  const bearer = authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined) return undefined;
  const found = new Set([bearer, typeof plain === 'string' ? plain.trim() : undefined].filter(Boolean));
  const [key] = found;
  return found.size === 1 && key !== undefined && isKeyText(key) ? key : undefined;
}

interface KnownKeys {
  readonly lookups: KeyLookups;
  readonly wrong: WrongKeys;
}

export function openKeys(db: Database): KnownKeys {
  return { lookups: new KeyLookups((hashes) => findApiKeys(db, hashes)), wrong: new WrongKeys() };
}

/** The account may be deactivated: that is refused later, after the request has been counted. */
export async function authenticate(
  { lookups, wrong }: KnownKeys,
  headers: IncomingHttpHeaders,
  address: string,
): Promise<ApiCaller | Problem> {
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

/** Records when keys were last used, about once a minute for each; no request waits for it or fails because of it. */
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

  /** Call it before the database is closed. */
  async settle(): Promise<void> {
    await Promise.all(this.#running);
  }
}
