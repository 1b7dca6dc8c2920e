// The outcome of one try over UDP or TCP, and the try as its transport sees it.

import type { Message } from '../../dns/message/message.ts';

export type Tried =
  | { readonly kind: 'reply'; readonly message: Message; readonly rttMs: number }
  /** The question is asked again in another way: see accept-reply.ts. */
  | { readonly kind: 'truncated' | 'other_case' | 'edns_refused' }
  /** No usable reply came in time; `error` says what came, if anything did. */
  | { readonly kind: 'silence'; readonly error: string | undefined }
  | { readonly kind: 'failed'; readonly error: string };

export interface TryOptions {
  readonly signal: AbortSignal;
  readonly onPacket: () => void;
}
