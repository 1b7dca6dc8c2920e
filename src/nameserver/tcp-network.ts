// What the TCP connections of one client share: its queries a second, and the room for answers that it has not read. One
// client is an IPv4 address, or an IPv6 /64, all of which one host may have: over TCP nobody has another's.

import type { TcpConnection } from './tcp-connection.ts';

export class TcpNetwork {
  readonly name: string;
  connections = 0;
  /** Those with queries that wait to be answered, in the order of their turns. */
  readonly waiting = new Set<TcpConnection>();
  /** Those whose answers wait to be read, the one that has waited longest first. */
  readonly unread = new Set<TcpConnection>();
  unreadOctets = 0;
  readonly #queriesPerSecond: number;
  #tokens: number;
  #filledAtMs: number;

  /** `queriesPerSecond`: also what it may ask at once. */
  constructor(name: string, queriesPerSecond: number, nowMs: number) {
    this.name = name;
    this.#queriesPerSecond = queriesPerSecond;
    this.#tokens = queriesPerSecond;
    this.#filledAtMs = nowMs;
  }

  /** False: its next query has to wait. */
  mayAsk(nowMs: number): boolean {
    return this.#fill(nowMs) >= 1;
  }

  /** Nothing is left to remember: no connection, and its rate is unused. Else to connect anew would bring a new rate. */
  isForgettable(nowMs: number): boolean {
    return this.connections === 0 && this.#fill(nowMs) >= this.#queriesPerSecond;
  }

  /** It has asked: what is over its rate is owed by its next turns. */
  asked(queries: number): void {
    this.#tokens -= queries;
  }

  #fill(nowMs: number): number {
    const rate = this.#queriesPerSecond;
    if (rate === Number.POSITIVE_INFINITY) return rate;
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#tokens = Math.min(rate, this.#tokens + (elapsedMs * rate) / 1000);
    this.#filledAtMs = nowMs;
    return this.#tokens;
  }
}

export function networkName(address: Uint8Array): string {
  return address.subarray(0, 8).join('.');
}
