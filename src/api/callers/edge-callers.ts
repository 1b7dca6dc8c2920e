// Finds the edge that sends a request. Its token is looked up for each request. Wrong tokens share a bounded number
// of statements, and networks that guess tokens are slowed down, as with API keys.

import type { IncomingHttpHeaders } from 'node:http';
import { hashSecret } from '../../store/accounts/hashed-secrets.ts';
import { type FoundEdge, findEdges, isEdgeToken, noteEdgeCall } from '../../store/edges/edges.ts';
import type { Database } from '../../store/postgres/database.ts';
import { Problem, unauthorized } from '../answers/problem.ts';
import { KeyLookups, WrongKeys } from './key-lookups.ts';
import { MemoryWindows } from './rate-limits.ts';

/** An edge that calls the API. */
export interface EdgeCaller extends FoundEdge {
  /** Client address of the edge, taken through trusted proxies. */
  readonly address: string;
  /** True if the connection uses the API's own TLS, or comes from this machine without any sign of a proxy. */
  readonly isPrivate: boolean;
}

/** Calls of one edge within this time are recorded once. */
const RECORD_INTERVAL_MS = 30_000;

export class EdgeCallers {
  readonly #db: Database;
  readonly #lookups: KeyLookups<FoundEdge>;
  readonly #wrong = new WrongKeys();
  readonly #nowMs: () => number;
  /** Call counters, by the number of calls allowed per minute. */
  readonly #calls = new Map<number, MemoryWindows>();
  /** Time of the last recorded call, by edge id. */
  readonly #recordedAt = new Map<number, number>();

  constructor(db: Database, nowMs: () => number = Date.now) {
    this.#db = db;
    this.#lookups = new KeyLookups((hashes) => findEdges(db, hashes));
    this.#nowMs = nowMs;
  }

  /** `perMinute` is the limit of one edge for calls of this kind. If `kind` is undefined, calls are not counted. */
  async find(
    headers: IncomingHttpHeaders,
    address: string,
    kind?: { readonly name: string; readonly perMinute: number },
  ): Promise<FoundEdge | Problem> {
    const token = presented(headers);
    if (token === undefined) return refused();
    const hash = hashSecret(token);
    const early = this.#wrong.judge(address, hash);
    if (early !== undefined) return tooMany('too many wrong tokens from this address', early);
    const found = await this.#lookups.find(hash);
    if (found?.state !== 'valid') {
      const late = this.#wrong.note(address, hash);
      return late === undefined ? refused() : tooMany('too many wrong tokens from this address', late);
    }
    if (kind !== undefined) {
      const { admitted, waitMs } = this.#windowsOf(kind.perMinute).take(`${kind.name} ${found.id}`);
      if (!admitted) return tooMany('rate limit exceeded', Math.max(1, Math.ceil(waitMs / 1000)));
    }
    await this.#recordCall(found);
    return found;
  }

  async #recordCall({ id }: FoundEdge): Promise<void> {
    const now = this.#nowMs();
    if (now - (this.#recordedAt.get(id) ?? Number.NEGATIVE_INFINITY) < RECORD_INTERVAL_MS) return;
    this.#recordedAt.set(id, now);
    await noteEdgeCall(this.#db, id).catch(() => {}); // a standby cannot record it, but still answers edges
  }

  #windowsOf(perMinute: number): MemoryWindows {
    const windows = this.#calls.get(perMinute) ?? new MemoryWindows(perMinute, this.#nowMs);
    this.#calls.set(perMinute, windows);
    return windows;
  }
}

/** Returns the bearer token. A request that also has an API key is rejected. */
function presented({ authorization, 'x-api-key': plain }: IncomingHttpHeaders): string | undefined {
  if (authorization === undefined || plain !== undefined) return undefined;
  const token = /^Bearer +(\S+) *$/i.exec(authorization)?.[1];
  return token !== undefined && isEdgeToken(token) ? token : undefined;
}

function refused(): Problem {
  return unauthorized('a valid edge token is required');
}

function tooMany(error: string, seconds: number): Problem {
  return new Problem(429, error, { headers: { 'Retry-After': String(seconds) } });
}
