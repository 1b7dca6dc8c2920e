// What an edge asks the API with its token: the stream of configs, followed through breaks; keys; its health.

import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { PurgeTarget } from '../../../../src/edge/purges/purge-target.ts';
import type { CertificateKeys } from './certificates.ts';
import type { ConfigStore } from './config-store.ts';

/** Longer than three heartbeats: a connection that says nothing any more is given up. */
const SILENCE_MS = 50_000;
const REPORT_EVERY_MS = 10_000;
const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;

export interface Reported {
  readonly status: number;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into it freely
  readonly body: any;
}

export class EdgeAgent {
  readonly #url: () => string;
  readonly #token: string;
  #isStopped = false;
  #stream: ClientRequest | undefined;
  #following: Promise<void> | undefined;
  #purges: ClientRequest | undefined;
  #purging: Promise<void> | undefined;
  #reporting: NodeJS.Timeout | undefined;
  /** Streams that were answered with 200. */
  streams = 0;
  /** Of the newest answer to a request for a stream; undefined: none came. */
  streamStatus: number | undefined;
  isStreaming = false;

  /** `url`: of the API, which may stand elsewhere after a restart. */
  constructor(url: () => string, token: string) {
    this.#url = url;
    this.#token = token;
  }

  /** Until `stop`; whenever a stream ends, another goes on from the newest cursor. */
  follow(configs: ConfigStore): void {
    this.#following = (async () => {
      let pauseMs = FIRST_PAUSE_MS;
      while (!this.#isStopped) {
        const lines = await this.#readStream(configs);
        pauseMs = lines > 0 ? FIRST_PAUSE_MS : Math.min(2 * pauseMs, LONGEST_PAUSE_MS);
        if (!this.#isStopped) await pause(pauseMs);
      }
    })();
  }

  /** Carries purges out and reports them, until `stop`. */
  followPurges(purge: (domain: string, target: PurgeTarget) => void): void {
    this.#purging = (async () => {
      while (!this.#isStopped) {
        await this.#readLines('/edge/v1/purges', 'purges', async (text) => {
          const { id, domain, target } = JSON.parse(text);
          if (id === undefined) return; // a heartbeat
          purge(domain, target);
          await this.ask('POST', `/edge/v1/purges/${id}`);
        }).catch(() => undefined);
        if (!this.#isStopped) await pause(FIRST_PAUSE_MS);
      }
    })();
  }

  /** At once, and each ten seconds until `stop`; while the API is away nothing is told. */
  keepReporting(configs: ConfigStore, unsupported: () => readonly object[]): void {
    const report = () => void this.report(configs, unsupported()).catch(() => undefined);
    report();
    this.#reporting = setInterval(report, REPORT_EVERY_MS);
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    clearInterval(this.#reporting);
    this.#stream?.destroy();
    this.#purges?.destroy();
    await Promise.all([this.#following, this.#purging]);
  }

  /** Closes the connection as a network would; `follow` begins another. */
  breakStream(): void {
    this.#stream?.destroy();
  }

  async loadCertificate(id: number): Promise<CertificateKeys> {
    const { status, body } = await this.ask('GET', `/edge/v1/certificates/${id}`);
    if (status !== 200) throw new Error(`certificate ${id}: ${status}`);
    return { certificate: body.certificate, privateKey: body.private_key };
  }

  async report(configs: ConfigStore, unsupported: readonly object[]): Promise<Reported> {
    const { cursor } = configs;
    return await this.ask('POST', '/edge/v1/health', {
      load: 0.1,
      version: 'test proxy',
      ...(cursor !== undefined && { cursor }),
      unsupported,
    });
  }

  async ask(method: string, path: string, body?: unknown): Promise<Reported> {
    const response = await fetch(`${this.#url()}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: await response.json().catch(() => undefined) };
  }

  /** A batch of requests, gzip; the status of the answer. */
  async reportRequests(batch: string, octets: Uint8Array): Promise<number> {
    const response = await fetch(`${this.#url()}/edge/v1/requests`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.#token}`,
        'content-type': 'application/x-ndjson',
        'content-encoding': 'gzip',
        'batch-id': batch,
      },
      body: octets,
    });
    await response.arrayBuffer();
    return response.status;
  }

  /** How many lines it brought. */
  async #readStream(configs: ConfigStore): Promise<number> {
    const { cursor } = configs;
    const query = cursor === undefined ? '' : `?after=${encodeURIComponent(cursor)}`;
    let lines = 0;
    try {
      const response = await this.#open(`${this.#url()}/edge/v1/config${query}`);
      this.streamStatus = response.statusCode;
      if (response.statusCode !== 200) {
        // A cursor that the API does not know any more: everything is told once more.
        if (response.statusCode === 400) configs.cursor = undefined;
        response.resume();
        return 0;
      }
      this.streams++;
      this.isStreaming = true;
      let rest = '';
      for await (const text of response.setEncoding('utf8')) {
        const parts = (rest + text).split('\n');
        rest = parts.pop() as string; // half a line: the stream may break off here
        for (const line of parts) configs.applyText(line);
        lines += parts.length;
      }
    } catch {
      // the API is away, or broke off
    }
    this.isStreaming = false;
    return lines;
  }

  async #readLines(path: string, stream: 'purges', take: (line: string) => Promise<void>): Promise<void> {
    const response = await this.#open(`${this.#url()}${path}`, stream);
    if (response.statusCode !== 200) {
      response.resume();
      return;
    }
    let rest = '';
    for await (const text of response.setEncoding('utf8')) {
      const parts = (rest + text).split('\n');
      rest = parts.pop() as string;
      for (const line of parts) await take(line);
    }
  }

  #open(url: string, stream: 'config' | 'purges' = 'config'): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${this.#token}` };
      const asking = request(url, { agent: false, headers, timeout: SILENCE_MS }, resolve);
      if (stream === 'config') this.#stream = asking;
      else this.#purges = asking;
      asking.on('timeout', () => asking.destroy());
      asking.on('error', reject).on('close', () => reject(new Error('closed')));
      asking.end();
    });
  }
}
