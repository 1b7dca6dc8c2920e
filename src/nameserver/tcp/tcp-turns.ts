// Decides whose queries are answered next over TCP. Clients take turns, and so do the connections of each client. A
// turn is at most 64 answers, and a round of the event loop some dozen turns, so that a client with few queries does
// not wait for one with many, however many connections that one has.
//
//   queries received → waiting → its turn → (more to answer) → waiting
//                     └→ its client is too fast: slowed until it may send again; nothing more is read from it

import type { QueryCounters } from '../answer/query-counters.ts';
import type { NetworkConnection, TcpNetwork } from './tcp-network.ts';

/** Cost of one round, which takes some milliseconds. A turn costs 1, each answer 1, and each KiB of answers 1. */
const ROUND_COST = 1024;
/**
 * The event loop accepts one connection per round. While connections arrive, most rounds only accept, so that a crowd
 * delays none of them.
 */
const ROUND_COST_WHILE_ACCEPTING = 4;
/** The interval at which slowed clients are checked. */
const SLOWED_MS = 10;

export class TcpTurns {
  readonly #now: () => number;
  readonly #counters: QueryCounters;
  /** Clients with waiting connections, in the order of their turns. */
  readonly #queue = new Set<TcpNetwork>();
  readonly #slowed = new Set<TcpNetwork>();
  /** Remaining cost of this round. If negative, the last turn exceeded the limit, and the next rounds have less. */
  #left = ROUND_COST;
  #hasAccepted = false;
  #isRoundPlanned = false;
  #timer: NodeJS.Timeout | undefined;

  constructor(counters: QueryCounters, now: () => number) {
    this.#counters = counters;
    this.#now = now;
  }

  noteAccepted(): void {
    this.#hasAccepted = true;
    this.#planRound();
  }

  /** Queues a connection with whole queries, or answers them immediately if no other connection waits. */
  take(connection: NetworkConnection): void {
    const { network } = connection;
    this.#planRound();
    if (this.#queue.size === 0 && this.#left > 0 && network.mayAsk(this.#now())) {
      this.#left -= connection.answerSome();
      if (!connection.hasQueries) return;
    }
    connection.hold();
    network.waiting.add(connection);
    if (!this.#slowed.has(network)) this.#queue.add(network);
  }

  forget(connection: NetworkConnection): void {
    const { network } = connection;
    network.waiting.delete(connection);
    if (network.waiting.size > 0) return;
    this.#queue.delete(network);
    this.#slowed.delete(network);
  }

  close(): void {
    clearTimeout(this.#timer);
  }

  #planRound(): void {
    if (this.#isRoundPlanned) return;
    this.#isRoundPlanned = true;
    setImmediate(() => this.#round());
  }

  #round(): void {
    this.#isRoundPlanned = false;
    const bound = this.#hasAccepted ? ROUND_COST_WHILE_ACCEPTING : ROUND_COST;
    this.#left = Math.min(bound, this.#left + bound);
    this.#hasAccepted = false;
    for (const network of this.#queue) {
      if (this.#left <= 0) break;
      this.#queue.delete(network);
      this.#left -= this.#turnOf(network);
    }
    if (this.#queue.size > 0) this.#planRound();
  }

  /** Answers one turn of the client. Returns its cost. */
  #turnOf(network: TcpNetwork): number {
    const [connection] = network.waiting;
    if (connection === undefined) return 0;
    if (!network.mayAsk(this.#now())) {
      this.#slow(network);
      return 1;
    }
    network.waiting.delete(connection);
    const cost = connection.answerSome();
    if (connection.hasQueries) network.waiting.add(connection);
    else connection.release();
    if (network.waiting.size > 0) this.#queue.add(network); // the iteration reaches it again after the others
    return cost;
  }

  /** Reads more slowly from a busy client, which loses no queries. RFC 7766 §6.2.2 does not specify how to slow a client. */
  #slow(network: TcpNetwork): void {
    this.#counters.tcpSlowed++;
    this.#slowed.add(network);
    this.#timer ??= setTimeout(() => this.#wake(), SLOWED_MS);
  }

  #wake(): void {
    this.#timer = undefined;
    const nowMs = this.#now();
    for (const network of this.#slowed) {
      if (!network.mayAsk(nowMs)) continue;
      this.#slowed.delete(network);
      this.#queue.add(network);
    }
    if (this.#queue.size > 0) this.#planRound();
    if (this.#slowed.size > 0) this.#timer = setTimeout(() => this.#wake(), SLOWED_MS);
  }
}
