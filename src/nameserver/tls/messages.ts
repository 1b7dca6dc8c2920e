// The options of the TLS thread, and the messages between it and the main thread.

import type { ListenAddress } from '../../process/listen-address.ts';
import type { TlsPair } from '../../process/tls-files.ts';
import type { AnswererParts } from '../answer/open-answerer.ts';
import type { InheritedAddress } from '../handover/inherited.ts';
import type { SamplerParts, Samples } from '../observe/sampler.ts';
import type { SlowPathMemory } from '../slow-path/slow-path-limit.ts';
import type { LogMessage } from '../threads/thread-log.ts';
import type { SlowMessage } from '../transfer/messages.ts';
import type { HandshakeCounts } from './handshakes.ts';

/** The options of the thread, in its `workerData`. */
export interface TlsThreadOptions extends AnswererParts {
  readonly dotListen: readonly ListenAddress[];
  readonly dohListen: readonly ListenAddress[];
  readonly dohPlainListen: readonly ListenAddress[];
  /** Undefined if only DOH_PLAIN_LISTEN is set. */
  readonly tls: TlsPair | undefined;
  /** Listening sockets to use, which the thread closes. The thread binds the other addresses. */
  readonly inherited: readonly InheritedAddress[];
  /** The memory of SlowPathLimit. Undefined if the node has no transfer thread. */
  readonly slowPath: SlowPathMemory | undefined;
  /** Undefined if no answers are sampled. */
  readonly sampling: SamplerParts | undefined;
}

/** A message of a TLS connection for the transfer thread. The TLS thread assigns the ids. */
export type ToSlowRelay =
  | { readonly kind: 'ask'; readonly id: number; readonly message: Omit<SlowMessage, 'id'> }
  | { readonly kind: 'more'; readonly id: number }
  | { readonly kind: 'close'; readonly id: number };

/** An answer of the transfer thread, or the news that it will not come. */
export type FromSlowRelay =
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly octets: Uint8Array | undefined;
      readonly isLast: boolean;
    }
  | { readonly kind: 'lose'; readonly id: number };

export type ToTlsThread =
  | FromSlowRelay
  /** Use this certificate for new connections. */
  | { readonly kind: 'renew'; readonly tls: TlsPair }
  /** Another process accepts connections on the same sockets. Serve those that exist, and send `finished`. */
  | { readonly kind: 'release' }
  | { readonly kind: 'stop' };

export type FromTlsThread =
  | ToSlowRelay
  /** The listening sockets, of all addresses. */
  | { readonly kind: 'listening'; readonly sockets: readonly ListeningSocket[] }
  /** The thread cannot listen on an address of `setting`, and ends. */
  | { readonly kind: 'refused'; readonly setting: string; readonly error: ListenError }
  /** Sent when the numbers have changed, at most once per second. */
  | { readonly kind: 'state'; readonly state: TlsState }
  /** Samples for the observing thread. */
  | { readonly kind: 'samples'; readonly samples: Samples }
  /** A query caused an unhandled error. */
  | { readonly kind: 'failure'; readonly error: unknown }
  /** After `release`: no connection is left, or those left were idle for too long. */
  | { readonly kind: 'finished' }
  | LogMessage;

export interface ListeningSocket {
  readonly listen: ListenAddress;
  readonly descriptor: number;
}

/** The fields of a system error, which a message would lose. */
export interface ListenError extends Partial<ListenAddress> {
  readonly message: string;
  readonly code: string | undefined;
  readonly syscall: string | undefined;
}

/** The numbers of the thread for the metrics of the node. Counters are totals since the thread started. */
export interface TlsState {
  /** Open connections over TLS, and of DOH_PLAIN_LISTEN. */
  readonly connections: number;
  readonly handshakes: Readonly<HandshakeCounts>;
  readonly resumed: number;
  /** Responses over HTTPS by status. */
  readonly dohStatuses: Readonly<Record<string, number>>;
}
