// How one attempt over UDP or TCP ended, and what its transport must know.

import type { Message } from '../../dns/message/message.ts';

export type AttemptResult =
  | { readonly kind: 'reply'; readonly message: Message; readonly rttMs: number }
  /** The question is asked again in another way: see match-reply.ts. */
  | { readonly kind: 'truncated' | 'other_case' | 'edns_refused' }
  /** No usable reply came in time; `error` says what came, if anything did. */
  | { readonly kind: 'silence'; readonly error: string | undefined }
  | { readonly kind: 'failed'; readonly error: string };

export interface AttemptOptions {
  readonly signal: AbortSignal;
  readonly onPacket: () => void;
}
