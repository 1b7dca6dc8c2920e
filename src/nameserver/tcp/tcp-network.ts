// What the TCP connections of one client share: its queries a second, and the room for answers that it has not read.
// One client is an IPv4 address, or an IPv6 /64, which one host may own; over TCP a client cannot use another's
// address.

/** What a client's turns, and the room for its answers, need of a connection. */
export interface NetworkConnection {
  readonly network: TcpNetwork;
  /** Whole queries wait for a turn. */
  readonly hasQueries: boolean;
  /** Answers queries, at most those of one turn; returns what it cost (see TcpTurns). */
  answerSome(): number;
  /** Stops reading until the connection's queries are answered. */
  hold(): void;
  release(): void;
  /** Ends the connection at once; answers that were not read are dropped. */
  destroy(): void;
}

export class TcpNetwork {
  readonly name: string;
  connections = 0;
  /** Connections with queries that wait to be answered, in the order of their turns. */
  readonly waiting = new Set<NetworkConnection>();
  /** Connections whose answers wait to be read, the longest waiting first. */
  readonly unread = new Set<NetworkConnection>();
  unreadBytes = 0;
  readonly #queriesPerSecond: number;
  #tokens: number;
  #filledAtMs: number;

  /** `queriesPerSecond`: also how many queries the client may ask at once. */
  constructor(name: string, queriesPerSecond: number, nowMs: number) {
    this.name = name;
    this.#queriesPerSecond = queriesPerSecond;
    this.#tokens = queriesPerSecond;
    this.#filledAtMs = nowMs;
  }

  /** False: the client's next query has to wait. */
  mayAsk(nowMs: number): boolean {
    return this.#fill(nowMs) >= 1;
  }

  /**
   * The client has no connection and has not used its rate. Before that it is remembered, since a new connection would
   * else bring a new rate.
   */
  isForgettable(nowMs: number): boolean {
    return this.connections === 0 && this.#fill(nowMs) >= this.#queriesPerSecond;
  }

  /** Counts queries; those over the rate are taken off the client's next turns. */
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
