// What one try to get a question answered came to, over either transport, and the try as its transport sees it.

import type { Message } from '../dns/message.ts';

export type Tried =
  | { readonly kind: 'reply'; readonly message: Message; readonly rttMs: number }
  /** Asked again otherwise: see accept-reply.ts. */
  | { readonly kind: 'truncated' | 'other_case' | 'edns_refused' }
  /** Nothing that counts within the time; `error` says what came, if anything did. */
  | { readonly kind: 'silence'; readonly error: string | undefined }
  | { readonly kind: 'failed'; readonly error: string };

export interface TryOptions {
  readonly signal: AbortSignal;
  readonly onPacket: () => void;
}
