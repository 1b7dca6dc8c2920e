// The customer's client: it repeats a call with the same Idempotency-Key until it knows the outcome.

import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';

export interface ApiReply {
  readonly status: number;
  readonly changeId: number | undefined;
  // biome-ignore lint/suspicious/noExplicitAny: responses of many routes
  readonly body: any;
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
}

/** Longer than the API takes to answer any call. A frozen process answers later, or not at all. */
const TIMEOUT_MS = 15_000;
const PAUSE_MS = 500;
/** 408 says only that this attempt was not carried out. The attempt before it may have been. */
const REPEATED = [408, 429, 502, 503, 504];

export class Owner {
  readonly #urls: readonly string[];
  readonly #key: string;
  /** Number of calls without a final response: repeatable errors and broken connections. */
  repeats = 0;

  constructor(urls: readonly string[], { ownerKey }: { readonly ownerKey: string }) {
    this.#urls = urls;
    this.#key = ownerKey;
  }

  /** Returns the final response, however long that takes. Repeats alternate between the API processes. */
  async call(call: Call, signal?: AbortSignal): Promise<ApiReply> {
    const key = randomUUID();
    for (let at = Math.floor(Math.random() * this.#urls.length); ; at++) {
      const reply = await this.#once(this.#urls[at % this.#urls.length] as string, call, key);
      if (reply !== undefined && !REPEATED.includes(reply.status)) return reply;
      this.repeats++;
      await pause(PAUSE_MS, undefined, { ...(signal && { signal }) });
    }
  }

  async #once(url: string, { method, path, body }: Call, key: string): Promise<ApiReply | undefined> {
    try {
      const response = await fetch(`${url}${path}`, {
        method,
        headers: {
          authorization: `Bearer ${this.#key}`,
          ...(method !== 'GET' && { 'idempotency-key': key }),
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      const text = await response.text();
      const changeId = response.headers.get('x-change-id');
      return {
        status: response.status,
        changeId: changeId === null ? undefined : Number(changeId),
        body: text === '' ? undefined : JSON.parse(text),
      };
    } catch {
      return undefined;
    }
  }
}
