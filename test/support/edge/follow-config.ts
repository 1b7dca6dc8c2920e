// Follows the config stream like an edge: keeps the newest config of each domain, continues from its cursor if the stream
// ends, and drops domains that a snapshot did not contain.

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
  /** Such as `http://127.0.0.1:8053`. */
  readonly url: string;
  readonly token: string;
  /** Called with each line after it has been applied. */
  readonly onLine?: (line: ConfigLine) => void;
}

/** Follows until it is stopped. A stream that ends or is refused is restarted. */
export class ConfigFollower {
  readonly #options: ConfigFollowerOptions;
  readonly held = new Map<string, HeldConfig>();
  cursor: string | undefined;
  /** Status of each response, in order. */
  readonly statuses: number[] = [];
  snapshots = 0;
  /** Domains in the snapshot so far. Undefined if there is none in progress. */
  #named: Set<string> | undefined;
  /** Versions of removed configs: an older line about them is ignored. */
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

  /** Disconnects immediately, at any position of the stream. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#request?.destroy();
    await this.#running;
  }

  /** Returns the config of the domain with the longest name that matches the host's end. */
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
      // Versions of another history cannot be compared: everything in this snapshot counts.
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
        // retry after any error
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
