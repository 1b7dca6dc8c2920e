// The contract's config stream as an edge follows it: keeps the newest config of each domain, goes on from its cursor when the
// stream ends, and drops what a snapshot did not name.

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import type { EdgeConfig } from '../../../src/edge/edge-config.ts';

/** A line of `GET /edge/v1/config`. */
export type ConfigLine =
  | { readonly cursor: string; readonly snapshot: 'begin' | 'end' }
  | {
      readonly cursor: string;
      readonly domain: string;
      readonly version: number;
      readonly config: EdgeConfig | null;
    }
  | { readonly cursor: string };

export interface HeldConfig {
  readonly version: number;
  readonly config: EdgeConfig;
}

export interface ConfigFollowerOptions {
  /** Like `http://127.0.0.1:8053`. */
  readonly url: string;
  readonly token: string;
  /** Called with each line, applied already. */
  readonly onLine?: (line: ConfigLine) => void;
}

/** Follows until it is stopped; a stream that ends, or is refused, is begun again. */
export class ConfigFollower {
  readonly #options: ConfigFollowerOptions;
  readonly held = new Map<string, HeldConfig>();
  cursor: string | undefined;
  /** The status of each answer, in order. */
  readonly statuses: number[] = [];
  snapshots = 0;
  /** The domains that the snapshot has named so far; undefined: there is none under way. */
  #named: Set<string> | undefined;
  /** Of configs that are gone: a line about them that comes again counts for nothing. */
  readonly #gone = new Map<string, number>();
  #running: Promise<void> = Promise.resolve();
  #request: ClientRequest | undefined;
  #isStopped = true;

  constructor(options: ConfigFollowerOptions) {
    this.#options = options;
  }

  start(): void {
    if (!this.#isStopped) return;
    this.#isStopped = false;
    this.#running = this.#run();
  }

  /** Breaks off at once, wherever the stream is. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#request?.destroy();
    await this.#running;
  }

  /** The config of the domain with the longest name that the host ends with. */
  configFor(host: string): EdgeConfig | undefined {
    const labels = host.toLowerCase().replace(/\.$/, '').split('.');
    for (let i = 0; i < labels.length; i++) {
      const found = this.held.get(labels.slice(i).join('.'));
      if (found !== undefined) return found.config;
    }
    return undefined;
  }

  apply(line: ConfigLine): void {
    if ('snapshot' in line) this.#applySnapshot(line.snapshot);
    else if ('domain' in line) this.#applyDomain(line);
    this.cursor = line.cursor;
    this.#options.onLine?.(line);
  }

  #applySnapshot(mark: 'begin' | 'end'): void {
    if (mark === 'begin') {
      this.snapshots++;
      this.#named = new Set();
      // Versions of another history say nothing: whatever this snapshot tells counts.
      this.#gone.clear();
      return;
    }
    for (const domain of [...this.held.keys()]) if (!this.#named?.has(domain)) this.held.delete(domain);
    this.#named = undefined;
  }

  #applyDomain({ domain, version, config }: Extract<ConfigLine, { domain: string }>): void {
    const isFirst = this.#named !== undefined && !this.#named.has(domain);
    this.#named?.add(domain);
    const known = this.held.get(domain)?.version ?? this.#gone.get(domain) ?? 0;
    if (version < known && !isFirst) return;
    if (config === null) {
      this.#gone.set(domain, version);
      this.held.delete(domain);
    } else {
      this.#gone.delete(domain);
      this.held.set(domain, { version, config });
    }
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      try {
        await this.#follow();
      } catch {
        // whatever it was: again
      }
      if (!this.#isStopped) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async #follow(): Promise<void> {
    const { url, token } = this.#options;
    const after = this.cursor === undefined ? '' : `?after=${encodeURIComponent(this.cursor)}`;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` };
      this.#request = request(`${url}/edge/v1/config${after}`, { headers }, resolve);
      this.#request.on('error', reject).end();
      if (this.#isStopped) this.#request.destroy();
    });
    this.statuses.push(response.statusCode ?? 0);
    if (response.statusCode !== 200) {
      response.resume();
      await new Promise((resolve) => response.once('close', resolve));
      return;
    }
    response.setEncoding('utf8');
    let rest = '';
    for await (const piece of response) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) {
        if (this.#isStopped) return;
        this.apply(JSON.parse(line) as ConfigLine);
      }
    }
  }
}
