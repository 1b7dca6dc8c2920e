// @ts-check
// Calls of the contract `/edge/v1`.

import { readFileSync } from 'node:fs';

const CALL_MS = 15_000;
/** A heartbeat comes every 15 s: after two have not come, the connection is dead. */
const SILENCE_MS = 40_000;
/** A line is one domain. */
const MAX_LINE = 64 * 1024 * 1024;

export class EdgeClient {
  /** @param {{ api: string, tokenFile: string }} settings */
  constructor({ api, tokenFile }) {
    this.api = api.replace(/\/+$/, '');
    this.tokenFile = tokenFile;
  }

  /** Read again for each call, so that a new token is taken without a restart. */
  get headers() {
    return { authorization: `Bearer ${readFileSync(this.tokenFile, 'utf8').trim()}` };
  }

  /**
   * @param {unknown} body
   */
  async reportHealth(body) {
    const response = await fetch(`${this.api}/edge/v1/health`, {
      method: 'POST',
      headers: { ...this.headers, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_MS),
    });
    await judge(response);
  }

  /**
   * @param {number} id
   * @returns {Promise<{ certificate: string, private_key: string }>}
   */
  async readCertificate(id) {
    const response = await fetch(`${this.api}/edge/v1/certificates/${id}`, {
      headers: this.headers,
      redirect: 'error',
      signal: AbortSignal.timeout(CALL_MS),
    });
    return JSON.parse(await judge(response));
  }

  /**
   * The lines of the feed, until the connection ends or is silent for too long.
   * @param {string | undefined} after
   * @param {AbortSignal} stopped
   */
  async *followConfig(after, stopped) {
    const ended = new AbortController();
    const stop = () => ended.abort(stopped.reason);
    const timer = setTimeout(() => ended.abort(new Error('the feed is silent')), SILENCE_MS);
    stopped.addEventListener('abort', stop);
    try {
      if (stopped.aborted) stop();
      const query = after === undefined ? '' : `?after=${encodeURIComponent(after)}`;
      const response = await fetch(`${this.api}/edge/v1/config${query}`, {
        headers: this.headers,
        redirect: 'error',
        signal: ended.signal,
      });
      if (!response.ok || response.body === null) {
        await judge(response);
        return;
      }
      // Node may collect what joins the signal to the request: then only the reader can end it.
      const reader = response.body.getReader();
      ended.signal.addEventListener('abort', () => void reader.cancel().catch(() => undefined));
      const decoder = new TextDecoder();
      let rest = '';
      for (;;) {
        const { done, value } = await reader.read();
        ended.signal.throwIfAborted();
        if (done) return;
        timer.refresh();
        const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
        rest = lines.pop() ?? '';
        if (rest.length > MAX_LINE) throw new Error('a line of the feed is too long');
        for (const line of lines) if (line !== '') yield JSON.parse(line);
      }
    } finally {
      ended.abort();
      clearTimeout(timer);
      stopped.removeEventListener('abort', stop);
    }
  }
}

export class Refused extends Error {
  /** @param {number} status */
  constructor(status) {
    super(`the API answered ${status}`);
    this.status = status;
  }
}

/** @param {Response} response */
async function judge(response) {
  const text = await response.text();
  if (!response.ok) throw new Refused(response.status);
  return text;
}
