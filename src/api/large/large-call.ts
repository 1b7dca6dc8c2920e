// What the two sides of a work thread say to each other. Everything here can be cloned from one thread to the other.

import type { Admitted } from '../guard.ts';

export interface ThreadSettings {
  readonly databaseUrl: string;
  readonly allowReservedNames: boolean;
  readonly countryDb: 'shipped' | { readonly path: string } | undefined;
}

/** A request that has passed its guards, its body not yet read. */
export interface LargeCall {
  /** Names the route. */
  readonly operationId: string;
  readonly method: string;
  readonly url: string;
  readonly admitted: Admitted;
  readonly query: unknown;
  /** The octets of the body, one after another; they are transferred. */
  readonly segments: readonly Uint8Array<ArrayBuffer>[];
  readonly contentType: string | undefined;
}

/** A whole answer, ready to be sent. */
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

/** An error as far as it can be cloned: its codes are what an outage is known by. */
export interface ThrownError {
  readonly message: string;
  readonly name: string;
  readonly stack: string | undefined;
  readonly members: Readonly<Record<string, string | number>>;
}

export function packError(thrown: unknown): ThrownError {
  const first = thrown instanceof AggregateError ? thrown.errors[0] : thrown;
  if (!(first instanceof Error))
    return { name: 'Error', message: String(first), stack: undefined, members: {} };
  const members = Object.entries(first).filter(([, value]) => ['string', 'number'].includes(typeof value));
  const { name, message, stack } = first;
  return { name, message, stack, members: Object.fromEntries(members) };
}

export function unpackError({ name, message, stack, members }: ThrownError): Error {
  return Object.assign(new Error(message), { name, stack: stack ?? message }, members);
}
