// Result of one attempt over UDP or TCP, and the options of a transport.

import type { Message } from '../../dns/message/message.ts';
import type { Target } from './target.ts';

export type AttemptResult =
  | { readonly kind: 'reply'; readonly message: Message; readonly rttMs: number }
  /** The query is sent again in another way (see match-reply.ts). */
  | { readonly kind: 'truncated' | 'other_case' | 'edns_refused' }
  /** No usable reply came in time. `error` describes what came, if anything did. */
  | { readonly kind: 'silence'; readonly error: string | undefined }
  /** No program listens at the UDP port, or the TCP connection failed or was closed. */
  | { readonly kind: 'closed'; readonly error: string }
  | { readonly kind: 'failed'; readonly error: string };

export interface AttemptOptions {
  readonly signal: AbortSignal;
  readonly onPacket: () => void;
  readonly timeoutMs: number;
}

/** Sends a query over UDP or TCP. */
export interface Transport {
  /** Rejects only with the reason of the signal, which must not be aborted yet. Sets the id in `query`. */
  ask(target: Target, query: Uint8Array, options: AttemptOptions): Promise<AttemptResult>;
  /** Ends all attempts. */
  close(error: string): void;
}
