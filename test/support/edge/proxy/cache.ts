// What the edge remembers of origins: whole answers in memory, for as long as a cache rule says.

import type { IncomingHttpHeaders } from 'node:http';
import type { PurgeTarget } from '../../../../src/edge/purges/purge-target.ts';
import type { RuleOf, Visit } from './visit.ts';

export interface Stored {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly storedAt: number;
  readonly expiresAt: number;
}

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
/** As much as a test may take, whatever the domain could have. */
const MEMORY_OCTETS = 32 * 1024 ** 2;

/** Hears what is cached and what is gone. */
interface CacheWatcher {
  stored(key: string, entry: Stored): void;
  dropped(key: string): void;
}

export class EdgeCache {
  readonly #entries = new Map<string, Stored>();
  readonly #watcher: CacheWatcher | undefined;
  #octets = 0;

  constructor(watcher?: CacheWatcher) {
    this.#watcher = watcher;
  }

  find(key: string, now: number): Stored | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined || entry.expiresAt > now) return entry;
    this.#drop(key, entry);
    return undefined;
  }

  store(key: string, entry: Stored, maxGb: number): void {
    const old = this.#entries.get(key);
    if (old !== undefined) this.#drop(key, old);
    this.#entries.set(key, entry);
    this.#octets += entry.body.length;
    this.#watcher?.stored(key, entry);
    for (const [oldest, { body }] of this.#entries) {
      if (this.#octets <= Math.min(maxGb * GIB, MEMORY_OCTETS)) break;
      this.#drop(oldest, { body });
    }
  }

  /** Takes away what a purge is about; `isOf`: whether a host belongs to its domain. */
  purge(target: PurgeTarget, isOf: (host: string) => boolean): void {
    for (const [key, entry] of this.#entries) {
      const parts = JSON.parse(key) as CacheKey;
      const isMeant = target.kind === 'stored' ? target.store_path === key : isPurged(target, parts);
      if (isOf(parts[1]) && isMeant) this.#drop(key, entry);
    }
  }

  #drop(key: string, { body }: Pick<Stored, 'body'>): void {
    this.#entries.delete(key);
    this.#octets -= body.length;
    this.#watcher?.dropped(key);
  }
}

export type CacheKey = [
  scheme: string,
  host: string,
  path: string,
  query: [string, string][],
  headers: unknown,
  keyQuery: RuleOf<'cache'>['key_query'],
];

function isPurged(
  target: Exclude<PurgeTarget, { kind: 'stored' }>,
  [, host, path, query, , keyQuery]: CacheKey,
): boolean {
  switch (target.kind) {
    case 'all':
      return true;
    case 'host':
      return target.host.startsWith('*.') ? host.endsWith(target.host.slice(1)) : host === target.host;
    case 'prefix':
      return host === target.host && path.startsWith(target.path);
    case 'url': {
      if (host !== target.host || path !== target.path) return false;
      const wanted = [...new URLSearchParams(target.query)];
      // A key without the query, or with a part of it, stands for URLs with any.
      const isPart = query.every(([name, value]) => wanted.some(([n, v]) => n === name && v === value));
      return isPart && (keyQuery !== 'all' || query.length === wanted.length);
    }
  }
}

/** Undefined: this request has nothing to do with the cache. */
export function cacheKeyOf(rule: RuleOf<'cache'>, visit: Visit): string | undefined {
  if (!['GET', 'HEAD'].includes(visit.method) || visit.headers.authorization !== undefined) return undefined;
  const query = [...new URLSearchParams(visit.query)]
    .filter(
      ([name]) =>
        rule.key_query === 'all' || (rule.key_query === 'list' && rule.key_query_list.includes(name)),
    )
    .sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0));
  const headers = rule.key_headers.map((name) => visit.headers[name.toLowerCase()] ?? null);
  return JSON.stringify([visit.scheme, visit.host, visit.path, query, headers, rule.key_query]);
}

/** For how long an answer is kept; 0: not at all. */
export function keepMs(
  rule: RuleOf<'cache'>,
  { config }: Pick<Visit, 'config'>,
  status: number,
  headers: IncomingHttpHeaders,
): number {
  if (status !== 200 || headers['set-cookie'] !== undefined || headers.vary === '*') return 0;
  const wanted =
    (rule.respect_origin ? originSeconds(headers['cache-control']) : undefined) ?? rule.ttl_seconds;
  return Math.min(wanted * 1_000, config.settings.cache_l2_ttl_days * DAY_MS);
}

/** What Cache-Control says to shared caches (RFC 9111 §5.2.2). */
function originSeconds(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  if (/\b(no-store|no-cache|private)\b/i.test(header)) return 0;
  const age = /\bs-maxage="?(\d+)/i.exec(header) ?? /\bmax-age="?(\d+)/i.exec(header);
  return age === null ? undefined : Number(age[1]);
}
