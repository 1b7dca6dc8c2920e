// Tells the API what the proxy has cached, and what is gone, in the order in which it happened.

import { createHash } from 'node:crypto';
import type { CacheWord } from '../../../../src/edge/cached/cached-report.ts';
import type { CacheKey, Stored } from './cache.ts';
import type { ConfigStore } from './config-store.ts';
import { findHost } from './find-host.ts';
import { KeepSending } from './keep-sending.ts';

const MOST_AT_ONCE = 1000;
/** While the API is away; the oldest are forgotten. */
const MOST_KEPT = 20_000;

export class CacheReporter {
  readonly #configs: Pick<ConfigStore, 'find'>;
  readonly #now: () => number;
  /** A new proxy has nothing. */
  readonly #words: CacheWord[];
  readonly #sending = new KeepSending();

  constructor(configs: Pick<ConfigStore, 'find'>, now: () => number) {
    this.#configs = configs;
    this.#now = now;
    this.#words = [{ op: 'restarted', at: timeOf(now()) }];
  }

  stored(key: string, { body, storedAt, expiresAt }: Stored): void {
    const [, host, path, query, headers] = JSON.parse(key) as CacheKey;
    const config = this.#configs.find(host);
    if (config === undefined) return;
    this.#add({
      op: 'stored',
      host,
      path,
      query: new URLSearchParams(query).toString(),
      variant: JSON.stringify(headers) === '[]' ? '' : JSON.stringify(headers),
      method: 'GET',
      hostname: findHost(config, host)?.host ?? host,
      store_path: key,
      key_hash: hashOf(key),
      cache_key: key,
      l2_key: '',
      size: body.length,
      cached_at: timeOf(storedAt),
      expires_at: timeOf(expiresAt),
    });
  }

  dropped(key: string): void {
    const domainId = this.#configs.find((JSON.parse(key) as CacheKey)[1])?.domain_id;
    if (domainId === undefined) return;
    this.#add({ op: 'evicted', domain_id: domainId, key_hash: hashOf(key), at: timeOf(this.#now()) });
  }

  /** `send` gives the status of the answer; what was refused is not sent again. */
  start(send: (body: { entries: readonly CacheWord[] }) => Promise<number>): void {
    this.#sending.start(async () => {
      const entries = this.#words.slice(0, MOST_AT_ONCE);
      const status = entries.length === 0 ? 0 : await send({ entries }).catch(() => 0);
      if (status === 200 || status === 400) this.#words.splice(0, entries.length);
      return undefined;
    });
  }

  stop(): Promise<void> {
    return this.#sending.stop();
  }

  #add(word: CacheWord): void {
    this.#words.push(word);
    if (this.#words.length > MOST_KEPT) this.#words.splice(1, 1);
  }
}

function hashOf(key: string): string {
  return createHash('sha256').update(key).digest('hex');
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString();
}
