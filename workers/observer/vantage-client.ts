// Sends an observer's signed requests to the API over HTTP. The API is not trusted: responses are limited in size and
// time, and redirects are not followed.

import type { KeyObject } from 'node:crypto';
import { signVantageRequest } from '../../src/process/vantage-signature.ts';
import { unwatchAbort, watchAbort } from '../../src/resolver/exchange/abort-watch.ts';

export interface VantageReply {
  readonly status: number;
  readonly text: string;
  /** The API's clock minus the local one. 0 if the API does not send its time. */
  readonly clockAheadMs: number;
}

export interface VantageClient {
  /** Rejects if there is no response in time, and with the signal's reason when the signal aborts. */
  post(
    path: string,
    body: unknown,
    options: { readonly timeoutMs: number; readonly signal: AbortSignal },
  ): Promise<VantageReply>;
}

const MAX_OCTETS = 65_536;

export function createVantageClient({
  url,
  name,
  key,
}: {
  readonly url: URL;
  readonly name: string;
  readonly key: KeyObject;
}): VantageClient {
  const base = url.href.replace(/\/+$/, '');
  return {
    async post(path, value, { timeoutMs, signal }) {
      const body = Buffer.from(JSON.stringify(value));
      return await untilAborted(signal, timeoutMs, async (ending) => {
        const response = await fetch(`${base}${path}`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            ...signVantageRequest(key, name, { method: 'POST', path, body }),
          },
          body,
          redirect: 'error', // the operator named no other host
          signal: ending,
        });
        const theirTime = Date.parse(response.headers.get('date') ?? '');
        return {
          status: response.status,
          text: await readBounded(response),
          clockAheadMs: Number.isNaN(theirTime) ? 0 : theirTime - Date.now(),
        };
      });
    },
  };
}

/** Describes an error by its cause, because `fetch failed` alone says nothing. */
export function explainFailure(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || String(error);
}

async function untilAborted<T>(
  signal: AbortSignal,
  timeoutMs: number,
  work: (ending: AbortSignal) => Promise<T>,
): Promise<T> {
  signal.throwIfAborted();
  const ending = new AbortController();
  const stop = () => ending.abort(signal.reason);
  const timer = setTimeout(() => ending.abort(new Error(`no answer within ${timeoutMs} ms`)), timeoutMs);
  watchAbort(signal, stop);
  try {
    return await work(ending.signal);
  } finally {
    clearTimeout(timer);
    unwatchAbort(signal, stop);
  }
}

async function readBounded(response: Response): Promise<string> {
  const chunks: Uint8Array[] = [];
  let octets = 0;
  // Leaving the loop early cancels the rest.
  for await (const chunk of response.body ?? []) {
    octets += chunk.length;
    if (octets > MAX_OCTETS) throw new Error(`a response has more than ${MAX_OCTETS} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
