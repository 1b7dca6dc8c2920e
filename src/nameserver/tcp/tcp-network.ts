// The state shared by all TCP connections of one client: its query rate, and the space for answers that it has not read. A
// client is an IPv4 address, or an IPv6 /64, which one host may own. Over TCP, a client cannot use another's address.

/** The part of a connection that the queue and the limits of a client use. */
export interface NetworkConnection {
  readonly network: TcpNetwork;
  /** True if whole queries wait for a turn. */
  readonly hasQueries: boolean;
  /** Answers the queries of one turn at most. Returns their cost (see TcpTurns). */
  answerSome(): number;
  /** Stops reading until the connection's queries are answered. */
  hold(): void;
  release(): void;
  /** Destroys the connection immediately; unread answers are discarded. */
  destroy(): void;
}

export class TcpNetwork {
  readonly name: string;
  connections = 0;
  /** Connections with unanswered queries, in the order of their turns. */
  readonly waiting = new Set<NetworkConnection>();
  /** Connections whose answers wait to be read, longest waiting first. */
  readonly unread = new Set<NetworkConnection>();
  unreadBytes = 0;
  /** Messages that wait for the transfer thread. */
  slowMessages = 0;
  readonly #queriesPerSecond: number;
  #tokens: number;
  #filledAtMs: number;

  /** @param queriesPerSecond also the number of queries that the client may send in one burst */
  constructor(name: string, queriesPerSecond: number, nowMs: number) {
    this.name = name;
    this.#queriesPerSecond = queriesPerSecond;
    this.#tokens = queriesPerSecond;
    this.#filledAtMs = nowMs;
  }

  get isLimited(): boolean {
    return this.#queriesPerSecond !== Number.POSITIVE_INFINITY;
  }

  /** Returns false if the client's next query has to wait. */
  mayAsk(nowMs: number): boolean {
    return this.#fill(nowMs) >= 1;
  }

  /**
   * True if the client has no connection and its full rate is available. Until then it is remembered, because a new
   * connection would otherwise get a new rate.
   */
  isForgettable(nowMs: number): boolean {
    return this.connections === 0 && this.#fill(nowMs) >= this.#queriesPerSecond;
  }

  /** Counts queries. Those above the rate are subtracted from the client's later turns. */
  asked(queries: number): void {
    this.#tokens -= queries;
  }

  #fill(nowMs: number): number {
    const rate = this.#queriesPerSecond;
    if (!this.isLimited) return rate;
    const elapsedMs = Math.max(0, nowMs - this.#filledAtMs);
    this.#tokens = Math.min(rate, this.#tokens + (elapsedMs * rate) / 1000);
    this.#filledAtMs = nowMs;
    return this.#tokens;
  }
}

export function networkName(address: Uint8Array): string {
  return address.subarray(0, 8).join('.');
}
