// The messages between the main thread and the transfer thread. The main thread owns all sockets and connections; the
// transfer thread answers the messages that need keys, the history of a zone, or much time.

import type { Name } from '../../dns/name.ts';
import type { ListenAddress } from '../../process/listen-address.ts';
import type { KeySecret } from '../../store/secrets/key-boxes.ts';
import type { SharedAnswerSettings } from '../answer/answer-query.ts';
import type { TransportIndex } from '../answer/transports.ts';
import type { LogMessage } from '../threads/thread-log.ts';

/** A message that only the transfer thread can answer. */
export interface SlowMessage {
  /** Number that the main thread assigns. It identifies the answer. */
  readonly id: number;
  /** The whole message. */
  readonly octets: Uint8Array;
  readonly transport: TransportIndex;
  /** The client's address, 4 or 16 octets. */
  readonly address: Uint8Array;
  /** True if the connection may carry transfers over TLS: TLS 1.3 with the ALPN protocol `dot` (RFC 9103 §7.1, §7.2). */
  readonly isXot?: boolean;
}

/** A zone whose served content has changed. */
export interface ChangedZone {
  readonly id: number;
  readonly apex: Name;
}

/** The first `prefix` bits of an address of 4 or 16 octets. */
export interface PeerNetwork {
  readonly address: Uint8Array;
  readonly prefix: number;
}

export type ToTransferThread =
  | { readonly kind: 'message'; readonly message: SlowMessage }
  /** The peer has taken the last part of the answer over TCP. The thread sends the next one. */
  | { readonly kind: 'more'; readonly id: number }
  /** The TCP connection has ended, so the answer is no longer needed. */
  | { readonly kind: 'closed'; readonly id: number }
  /**
   * Sent only while the last `active` message had `watches`. The first ones hold the zones that have changed since the
   * snapshot was written.
   */
  | { readonly kind: 'changed'; readonly zones: readonly ChangedZone[] }
  | { readonly kind: 'stop' };

export type FromTransferThread =
  /**
   * UDP: one message, or undefined to drop it. TCP: messages with their lengths (two octets each), 64 KiB or little more.
   * After a part that is not the last, the thread waits for `more`. The last part may be undefined. Transfer the buffer
   * if nothing else uses it.
   */
  | {
      readonly kind: 'answer';
      readonly id: number;
      readonly octets: Uint8Array | undefined;
      readonly isLast: boolean;
    }
  /** Ends the TCP connection of this message immediately, for example in the middle of a transfer that cannot continue. */
  | { readonly kind: 'abort'; readonly id: number }
  /** The networks and addresses of the operator's peers, which are exempt from the limits of clients. */
  | { readonly kind: 'networks'; readonly networks: readonly PeerNetwork[] }
  /** `watches` is true if a zone has a peer that is notified, so that the thread needs `changed`. */
  | { readonly kind: 'active'; readonly watches: boolean }
  /** Sent when the numbers have changed, at most once per second. */
  | { readonly kind: 'state'; readonly state: TransferState }
  | LogMessage
  | { readonly kind: 'stopped' };

/** A value of a metric, with its labels. */
type Counted<Label extends string> = { readonly [label in Label]: string } & { readonly count: number };

/** The numbers of the thread for the metrics of the node. Counters are totals since the thread started. */
export interface TransferState {
  /** Transfers to peers. */
  readonly transfers: readonly Counted<'form' | 'outcome'>[];
  /** NOTIFY messages. `direction` is `in` or `out`. */
  readonly notifies: readonly Counted<'direction' | 'outcome'>[];
  /** Zones that wait to be notified to each peer. */
  readonly notifyQueue: readonly Counted<'peer'>[];
  /** Messages with a TSIG record that was refused, by its error. */
  readonly tsigFailures: readonly Counted<'error'>[];
  /** IXFR queries that were answered with the whole zone, by reason. */
  readonly historyMisses: readonly Counted<'why'>[];
  /** Dynamic updates by outcome, without those whose TSIG record was refused. */
  readonly updates: readonly Counted<'outcome'>[];
  /** Dynamic updates that wait for their answers. */
  readonly updatesWaiting: number;
  /** Serials of the zones that peers transfer, at most 1,000. */
  readonly zoneSerials: readonly { readonly zone: string; readonly serial: number }[];
}

/** The options of the thread, in its `workerData`. */
export interface TransferThreadOptions {
  /** The zone image. */
  readonly buffer: SharedArrayBuffer;
  /** The reader slot of the thread. The main thread clears it when the thread ends. */
  readonly slot: number;
  /** The settings of answers that all answering threads share. */
  readonly settings: SharedAnswerSettings;
  /** The memory of the thread's own QueryCounters. */
  readonly counters: SharedArrayBuffer;
  /** The memory of AmplificationLimit, which unsigned answers over UDP should pass. Undefined if there is no limit. */
  readonly amplificationLimit: SharedArrayBuffer | undefined;
  /** The memory of CountryTable. */
  readonly countries: SharedArrayBuffer;
  /** The primary's URL. */
  readonly databaseUrl: string;
  /** URL of the server that provides zones and history. Undefined if it is the primary. */
  readonly readUrl: string | undefined;
  readonly nodeName: string;
  readonly transfers: 'off' | 'answer' | 'notify';
  /** True if the node takes dynamic updates. */
  readonly dnsUpdate: boolean;
  readonly transfersMax: number;
  /** NOTIFY messages per second to each peer. */
  readonly notifyRate: number;
  /** Source address of NOTIFY messages. Undefined for the first listen address. */
  readonly notifySource: string | undefined;
  readonly tsigSecrets: readonly KeySecret[];
  readonly dnsListen: readonly ListenAddress[];
}
