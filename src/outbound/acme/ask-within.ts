// The bounds of every request to an authority: where it may lead, how large its answer is, and how long it takes.

import { AsyncLocalStorage } from 'node:async_hooks';
import type { Agent } from 'node:https';
import acme from 'acme-client';
import { boundSignal } from '../../process/bound-signal.ts';
import { CaFault, faultOf } from './ca-fault.ts';

const MAX_BYTES = 1024 * 1024;

interface Surrounding {
  readonly agent: Agent;
  readonly signal: AbortSignal;
  readonly requestMs: number;
  /** The directory is on this machine: only then may it name URLs that are. */
  readonly isHere: boolean;
}

/** acme-client has one HTTP client for all; whose a request is, is known by this. */
const around = new AsyncLocalStorage<Surrounding>();

Object.assign((acme.axios.defaults as unknown as { acmeSettings: object }).acmeSettings, {
  retryMaxAttempts: 0,
});
acme.axios.defaults.headers.common['User-Agent'] = 'zonefleet';
acme.axios.interceptors.request.use((config) => {
  const here = around.getStore();
  const problem = here === undefined ? 'nobody asks' : judgeUrl(config.url, here.isHere);
  if (here === undefined || problem !== undefined) throw new CaFault('refused', problem ?? '');
  config.httpsAgent = here.agent;
  config.proxy = false;
  config.maxRedirects = 0;
  config.maxContentLength = MAX_BYTES;
  config.timeout = here.requestMs;
  config.signal = boundSignal(here.signal, here.requestMs);
  return config;
});
acme.axios.interceptors.response.use((response) => {
  const { status, headers, data } = response;
  const isNonce = status === 400 && String(data?.type).endsWith(':badNonce'); // the package takes another nonce
  if (status < 300 || isNonce) return response;
  throw faultOf(status, headers as Record<string, unknown>, data, new Date());
});

/** Why a URL of an authority is not asked; undefined: it is. */
export function judgeUrl(text: unknown, isDirectoryHere: boolean): string | undefined {
  if (typeof text !== 'string' || !URL.canParse(text)) return 'the authority names what is no URL';
  const url = new URL(text);
  if (isHere(text))
    return isDirectoryHere ? undefined : 'the authority names a URL of this machine, and is not on it';
  return url.protocol === 'https:' ? undefined : 'the authority names a URL that is not https';
}

/** `http:` and `https:` to the machine itself. */
export function isHere(url: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[::1\]|0\.0\.0\.0|\[::\])$/.test(new URL(url).hostname);
}

/** All requests of `work` are bounded so. */
export async function askWithin<T>(surrounding: Surrounding, work: () => Promise<T>): Promise<T> {
  return await around.run(surrounding, work);
}
