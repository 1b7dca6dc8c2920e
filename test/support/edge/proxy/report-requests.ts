// Tells the API each request that the proxy was asked: in batches, each with one id and the same octets until it is answered.

import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import type { ConfigStore } from './config-store.ts';
import { findHost } from './find-host.ts';
import { KeepSending } from './keep-sending.ts';
import type { Seen } from './visit.ts';

const MOST_AT_ONCE = 1000;
/** While the API is away; the oldest are forgotten. */
const MOST_KEPT = 20_000;
const MOST_URI = 2048;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** They will not be taken later either. */
const HOPELESS = [400, 413, 415, 422];

interface Batch {
  readonly id: string;
  readonly octets: Uint8Array;
  readonly lines: number;
}

export class RequestReporter {
  readonly #configs: Pick<ConfigStore, 'find'>;
  readonly #lines: string[] = [];
  readonly #sending = new KeepSending();
  #batch: Batch | undefined;
  #waitMs = FIRST_WAIT_MS;
  /** Lines that were forgotten, or are not taken. */
  dropped = 0;
  /** Lines that the API has answered for. */
  told = 0;

  constructor(configs: Pick<ConfigStore, 'find'>) {
    this.#configs = configs;
  }

  /** A request has ended; `octets` were sent to the visitor. Of hosts that are not served here nothing is told. */
  ended(seen: Seen, { octets, endMs }: { readonly octets: number; readonly endMs: number }): void {
    const config = this.#configs.find(seen.host);
    if (config === undefined || (!config.suspended && findHost(config, seen.host) === undefined)) return;
    this.#lines.push(
      JSON.stringify({
        at: new Date(seen.atMs).toISOString(),
        host: seen.host,
        method: seen.method,
        uri: seen.uri.slice(0, MOST_URI),
        status: seen.status,
        octets,
        ms: Math.max(0, endMs - seen.atMs),
        client: seen.client,
        cache: seen.cache,
        rule: seen.rule,
        reason: seen.origin === undefined || seen.reason === 'client_closed' ? seen.reason : undefined,
        ...(seen.status === 101 && { websocket: true }),
      }),
    );
    if (this.#lines.length > MOST_KEPT) {
      this.#lines.shift();
      this.dropped++;
    }
  }

  /** `send` gives the status of the answer, and rejects when there was none. */
  start(send: (batch: string, octets: Uint8Array) => Promise<number>): void {
    this.#sending.start(async () => {
      this.#batch ??= this.#next();
      if (this.#batch === undefined) return undefined;
      const { id, octets, lines } = this.#batch;
      const status = await send(id, octets).catch(() => 0);
      if (status === 200) this.told += lines;
      else if (HOPELESS.includes(status)) this.dropped += lines;
      else {
        this.#waitMs = Math.min(2 * this.#waitMs, LONGEST_WAIT_MS);
        return this.#waitMs;
      }
      this.#batch = undefined;
      this.#waitMs = FIRST_WAIT_MS;
      return undefined;
    });
  }

  stop(): Promise<void> {
    return this.#sending.stop();
  }

  #next(): Batch | undefined {
    const lines = this.#lines.splice(0, MOST_AT_ONCE);
    if (lines.length === 0) return undefined;
    return { id: randomUUID(), octets: gzipSync(lines.join('\n')), lines: lines.length };
  }
}
