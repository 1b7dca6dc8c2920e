// The messages between the main thread and a worker thread. All of them can be cloned.

import { mayBeCommitted } from '../../store/postgres/bounded-client.ts';
import { type OutageKind, outageOf } from '../../store/postgres/outage.ts';
import type { Accepted } from '../answers/encoding.ts';
import type { Api } from '../calls/call.ts';
import type { Admitted } from '../calls/guard.ts';

export interface ThreadSettings {
  readonly databaseUrl: string;
  /** Needed because threads also write signed zones. */
  readonly keySecrets: readonly { readonly name: string; readonly secret: Uint8Array }[];
  readonly allowReservedNames: boolean;
  readonly originAllow: readonly string[];
  readonly countryDb: 'shipped' | { readonly path: string } | undefined;
  /** The rules for new domains of accounts. */
  readonly newDomains?: Pick<Api, 'claimsPerAccount' | 'trial' | 'signsNewDomains'>;
}

/** A request that has passed its guards and whose body has not been parsed. */
export interface LargeCall {
  /** Identifies the route. */
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  readonly admitted: Admitted;
  readonly query: unknown;
  /** The bytes of the body, in order. Their buffers are transferred. */
  readonly segments: readonly Uint8Array<ArrayBuffer>[];
  readonly contentType: string | undefined;
  /** Undefined if the response must not be compressed. */
  readonly accepted?: Accepted | undefined;
}

/** A complete response, ready to be sent. */
export interface LargeAnswer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

export type ToThread =
  | { readonly kind: 'call'; readonly call: LargeCall }
  | { readonly kind: 'gone'; readonly reason: unknown }
  | { readonly kind: 'end' };

export type LogLevel = 'fatal' | 'error' | 'warn' | 'info' | 'debug' | 'trace';

export type FromThread =
  | {
      readonly kind: 'log';
      readonly level: LogLevel;
      readonly what: unknown;
      readonly message: string | undefined;
    }
  | { readonly kind: 'answer'; readonly answer: LargeAnswer }
  | { readonly kind: 'failed'; readonly error: ThrownError };

/** The parts of an error that can be cloned, and properties that only the thread can determine. */
interface ThrownError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Undefined if the error is a bug. */
  readonly outage: OutageKind | undefined;
  readonly mayBeCommitted: boolean;
}

export function packError(thrown: unknown): ThrownError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const { name, message, stack } = error;
  return { name, message, stack, outage: outageOf(thrown), mayBeCommitted: mayBeCommitted(thrown) };
}

/** The error that a handler threw in a thread. */
export class ThreadError extends Error {
  readonly outage: OutageKind | undefined;
  readonly mayBeCommitted: boolean;

  constructor({ name, message, stack, outage, mayBeCommitted }: ThrownError) {
    super(message);
    this.name = name;
    this.stack = stack ?? message;
    this.outage = outage;
    this.mayBeCommitted = mayBeCommitted;
  }
}
