// Limits and counts the TLS handshakes in progress, so that a flood of connections costs little memory.

const MAX_HANDSHAKES = 50;

/** Numbers of handshakes by outcome. */
export interface HandshakeCounts {
  done: number;
  /** The peer ended the connection, or has no protocol or cipher in common. */
  failed: number;
  timeout: number;
  /** Ended because too many were in progress. */
  refused: number;
}

/** A connection with a handshake in progress. */
interface Handshake {
  destroy(): void;
}

export class Handshakes<H extends Handshake = Handshake> {
  readonly counts: HandshakeCounts = { done: 0, failed: 0, timeout: 0, refused: 0 };
  /** Handshakes that resumed a session, which are also counted as done. */
  resumed = 0;
  readonly #most: number;
  /** The networks of the handshakes in progress, oldest first. */
  readonly #open = new Map<H, string>();

  constructor(most = MAX_HANDSHAKES) {
    this.#most = most;
  }

  /**
   * Starts a handshake. If too many are in progress, ends one of the network that has most: the new one if it is from that
   * network, otherwise the oldest. So a single network cannot lock out others.
   */
  enter(handshake: H, network: string): void {
    this.#open.set(handshake, network);
    if (this.#open.size <= this.#most) return;
    const crowded = this.#mostCrowded();
    const ended = crowded === network ? handshake : this.#oldestOf(crowded);
    this.leave(ended, 'refused');
    ended.destroy();
  }

  get inProgress(): number {
    return this.#open.size;
  }

  /** Counts the outcome, unless the handshake has already ended. */
  leave(handshake: H, outcome: keyof HandshakeCounts): void {
    if (this.#open.delete(handshake)) this.counts[outcome]++;
  }

  /** Returns the network with most handshakes; of several, the one that had as many first. */
  #mostCrowded(): string {
    const counts = new Map<string, number>();
    let crowded = '';
    for (const network of this.#open.values()) {
      const count = (counts.get(network) ?? 0) + 1;
      counts.set(network, count);
      if (count > (counts.get(crowded) ?? 0)) crowded = network;
    }
    return crowded;
  }

  #oldestOf(network: string): H {
    for (const [handshake, other] of this.#open) if (other === network) return handshake;
    throw new Error('the network has no handshake in progress');
  }
}
