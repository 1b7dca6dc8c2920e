// @ts-check
// A client of the contract `/edge/v1`.

import { readFileSync } from 'node:fs';

const CALL_MS = 15_000;
/** A heartbeat arrives every 15 s. If two are missing, the connection is dead. */
const SILENCE_MS = 40_000;
/** Maximum length of a line, which has one domain. */
const MAX_LINE = 64 * 1024 * 1024;

export class EdgeClient {
  /** @param {{ api: string, tokenFile: string }} settings */
  constructor({ api, tokenFile }) {
    this.api = api.replace(/\/+$/, '');
    this.tokenFile = tokenFile;
  }

  /** Reads the token for each call, so that a new one is used without a restart. */
  get headers() {
    return { authorization: `Bearer ${readFileSync(this.tokenFile, 'utf8').trim()}` };
  }

  /** @param {unknown} body */
  async reportHealth(body) {
    await this.#call('/edge/v1/health', {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
  }

  /**
   * @param {number} id
   * @returns {Promise<{ certificate: string, private_key: string }>}
   */
  async readCertificate(id) {
    return JSON.parse(await this.#call(`/edge/v1/certificates/${id}`, { headers: this.headers }));
  }

  /**
   * Yields lines of the feed until the connection ends or is silent for too long.
   * @param {string | undefined} after
   * @param {AbortSignal} stopped
   */
  async *followConfig(after, stopped) {
    const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
    yield* this.#readLines(`/edge/v1/config${query}`, stopped);
  }

  /**
   * Yields purges until the connection ends or is silent for too long.
   * @param {AbortSignal} stopped
   * @returns {AsyncGenerator<{ id?: number, domain_id: number, domain: string, target: import('../src/features/cache/rules.ts').PurgeTarget }>}
   */
  async *followPurges(stopped) {
    yield* this.#readLines('/edge/v1/purges', stopped);
  }

  /** @param {number} id @param {string} [error] why the purge failed */
  async reportPurge(id, error) {
    await this.#call(`/edge/v1/purges/${id}`, {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify(error === undefined ? {} : { error }),
    });
  }

  /** @param {object[]} entries */
  async reportCache(entries) {
    await this.#call('/edge/v1/cache', {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ entries }),
    });
  }

  /**
   * @param {string} batch id, the same for the same octets
   * @param {Uint8Array} octets compressed lines
   * @param {AbortSignal} stopped
   * @returns {Promise<{ accepted: number, dropped: { line: number, time: number, host: number } }>}
   */
  async reportRequests(batch, octets, stopped) {
    const headers = {
      ...this.headers,
      'content-type': 'application/x-ndjson',
      'content-encoding': 'gzip',
      'batch-id': batch,
    };
    const init = { method: 'POST', headers, body: octets };
    return JSON.parse(await this.#call('/edge/v1/requests', init, stopped));
  }

  /** @param {string} path @param {AbortSignal} stopped */
  async *#readLines(path, stopped) {
    let rest = '';
    for await (const piece of this.#read(path, { headers: this.headers }, SILENCE_MS, stopped)) {
      const lines = (rest + piece).split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE) throw new Error('a line of the feed is too long');
      for (const line of lines) if (line !== '') yield JSON.parse(line);
    }
  }

  /**
   * @param {string} path
   * @param {RequestInit} init
   * @param {AbortSignal} [stopped]
   */
  async #call(path, init, stopped) {
    let text = '';
    for await (const piece of this.#read(path, init, CALL_MS, stopped)) text += piece;
    return text;
  }

  /**
   * Yields the chunks of a response. Timeouts cancel the body itself, because Node's `fetch` may ignore its signal after the header.
   * @param {string} path
   * @param {RequestInit} init
   * @param {number} silenceMs
   * @param {AbortSignal} [stopped]
   */
  async *#read(path, init, silenceMs, stopped) {
    stopped?.throwIfAborted();
    const ended = new AbortController();
    /** @type {ReadableStreamDefaultReader<Uint8Array> | undefined} */
    let reader;
    const end = (/** @type {Error} */ reason) => {
      ended.abort(reason);
      void reader?.cancel(reason).catch(() => undefined);
    };
    const stop = () => end(new Error('the agent is stopping'));
    const timer = setTimeout(() => end(new Error(`silent for ${silenceMs / 1_000} s`)), silenceMs);
    stopped?.addEventListener('abort', stop);
    try {
      const response = await fetch(this.api + path, { ...init, redirect: 'error', signal: ended.signal });
      reader = response.body?.getReader();
      if (!response.ok) throw new Refused(response.status, response.headers.get('retry-after'));
      const decoder = new TextDecoder();
      for (;;) {
        const piece = await reader?.read();
        ended.signal.throwIfAborted();
        if (piece === undefined || piece.done) return;
        timer.refresh();
        yield decoder.decode(piece.value, { stream: true });
      }
    } finally {
      clearTimeout(timer);
      stopped?.removeEventListener('abort', stop);
      end(new Error('read')); // cancels the rest of the body
    }
  }
}

export class Refused extends Error {
  /** @param {number} status @param {string | null} [retryAfter] */
  constructor(status, retryAfter = null) {
    super(`the API answered ${status}`);
    this.status = status;
    /** Delay that the API requests. */
    this.retryMs = retryAfter !== null && /^[0-9]{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1_000 : 0;
  }
}
