// Which key a request presents, and whose it is. Nothing is cached: a revoked key must not work a moment longer, and one
// read by the hash's index is little beside what every call asks of Postgres anyway.

import type { IncomingHttpHeaders } from 'node:http';
import { findApiKey, hashKey, isKeyText, touchApiKey } from '../store/api-keys.ts';
import type { Database } from '../store/database.ts';
import type { Caller } from './caller.ts';
import { type Problem, unauthorized } from './problem.ts';

/** `Authorization: Bearer` and `X-Api-Key` are equivalent. Two that differ are none. */
export function presentedKey(headers: IncomingHttpHeaders): string | undefined {
  const { authorization, 'x-api-key': plain } = headers;
  const bearer = authorization === undefined ? undefined : /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  if (authorization !== undefined && bearer === undefined) return undefined;
  const found = new Set([bearer, typeof plain === 'string' ? plain.trim() : undefined].filter(Boolean));
  const [key] = found;
  return found.size === 1 && key !== undefined && isKeyText(key) ? key : undefined;
}

/** The account may be deactivated: that is told apart later, after the request has been counted. */
export async function authenticate(
  db: Database,
  headers: IncomingHttpHeaders,
  address: string,
): Promise<Caller | Problem> {
  const text = presentedKey(headers);
  if (text === undefined) return unauthorized();
  const found = await findApiKey(db, hashKey(text));
  if (found === undefined || found.state !== 'valid') return unauthorized();
  return { account: found.account, key: found.key, address };
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
