// One call of a webhook. The name is looked up once, every address is judged, and the connection goes to the address that was judged:
// a name that leads elsewhere a moment later (DNS rebinding) changes nothing.

import type { Network } from '../../dns/record/network.ts';
import { addressOctets } from '../../dns/record/network.ts';
import { judgeAddress, readWebhookUrl } from '../../edge/webhooks/webhook-url.ts';
import { boundSignal } from '../../process/bound-signal.ts';
import { type PostFailure, postOnce } from './post-once.ts';

interface WebhookCall {
  readonly url: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Which of the addresses of a name is called: each try takes the next one. */
  readonly attempt: number;
}

export interface CallOptions {
  readonly allowed: readonly Network[];
  /** The addresses of a name; undefined: they cannot be found. Rejects when the signal aborts. */
  readonly addressesOf: (host: string, signal: AbortSignal) => Promise<readonly string[] | undefined>;
  /** False: the address is called by too many already. */
  readonly admit: (address: string) => Promise<boolean>;
  /** PEM: whom receivers' certificates are trusted by, besides those of Node. */
  readonly roots?: string | undefined;
  readonly callMs?: number;
}

export type CallFailure = PostFailure | 'not_public' | 'unresolved';
type CallResult =
  | { readonly kind: 'answered'; readonly status: number }
  | { readonly kind: 'failed'; readonly why: CallFailure }
  /** Nothing was sent. */
  | { readonly kind: 'busy' };

/** From the look-up to the answer. */
const CALL_MS = 5000;

/** Throws the signal's reason when that aborts. */
export async function callWebhook(
  call: WebhookCall,
  { allowed, addressesOf, admit, roots, callMs = CALL_MS }: CallOptions,
  signal: AbortSignal,
): Promise<CallResult> {
  const url = readWebhookUrl(call.url, allowed);
  if ('problem' in url) return failed('not_public');
  const { host, port, path } = url;
  const bounded = boundSignal(signal, callMs);
  try {
    const addresses =
      addressOctets(host) === undefined ? await addressesOf(host, bounded) : ([host] as const);
    if (addresses === undefined || addresses.length === 0) return failed('unresolved');
    // One of them that is not public makes all of them doubtful.
    if (addresses.some((address) => judgeAddress(address, allowed) !== undefined))
      return failed('not_public');
    const address = addresses[call.attempt % addresses.length] as string;
    if (!(await admit(address))) return { kind: 'busy' };
    bounded.throwIfAborted();
    const { body, headers } = call;
    const authority = new URL(url.href).host;
    const posted = await postOnce({ address, host, port, path, authority, body, headers, roots }, bounded);
    signal.throwIfAborted();
    return posted;
  } catch (error) {
    signal.throwIfAborted();
    if (bounded.aborted) return failed('timeout');
    throw error;
  }
}

function failed(why: CallFailure): CallResult {
  return { kind: 'failed', why };
}
