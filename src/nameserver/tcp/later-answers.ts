// The answers of one TCP connection that arrive later, from the transfer thread (RFC 7766 §6.2.1.1). Requests the next
// part of an answer only when the system has taken the last one, so that a slow peer holds little memory.

import type { SlowMessages, SlowReceiver } from '../slow-path/slow-path.ts';
import type { SlowMessage } from '../transfer/messages.ts';
import type { TcpNetwork } from './tcp-network.ts';

interface LaterConnection {
  readonly network: TcpNetwork;
  sendPart(octets: Uint8Array | undefined): void;
  destroy(): void;
}

/** Maximum number of messages of a connection that wait for the transfer thread. */
const MAX_OPEN = 16;
/** The same for all connections of a client, so that one peer cannot use up the slow path. */
const MAX_OPEN_OF_CLIENT = 128;

export class LaterAnswers implements SlowReceiver {
  readonly #slowPath: SlowMessages | undefined;
  readonly #connection: LaterConnection;
  readonly #open = new Set<number>();
  /** Answers whose next part can be requested. They take turns. */
  readonly #unfinished: number[] = [];
  /** The answer whose next part was requested. */
  #requested: number | undefined;

  constructor(slowPath: SlowMessages | undefined, connection: LaterConnection) {
    this.#slowPath = slowPath;
    this.#connection = connection;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  get isFull(): boolean {
    return this.#open.size >= MAX_OPEN;
  }

  /** Returns false if the transfer thread cannot take the message. */
  ask(message: Omit<SlowMessage, 'id'>): boolean {
    const slowPath = this.#slowPath;
    const { network } = this.#connection;
    if (slowPath === undefined) return false;
    if (network.slowMessages >= MAX_OPEN_OF_CLIENT) return slowPath.limit.drop('network');
    const id = slowPath.limit.enter() ? slowPath.ask(message, this) : undefined;
    if (id === undefined) return false;
    this.#open.add(id);
    network.slowMessages++;
    return true;
  }

  takeAnswer(id: number, octets: Uint8Array | undefined, isLast: boolean): void {
    if (id === this.#requested) this.#requested = undefined;
    if (isLast) this.#forget(id);
    else this.#unfinished.push(id);
    this.#connection.sendPart(octets);
  }

  loseAnswer(id: number): void {
    this.#forget(id);
    this.#connection.destroy();
  }

  /** Call it when the system has taken all parts. */
  requestMore(): void {
    if (this.#requested !== undefined) return;
    this.#requested = this.#unfinished.shift();
    if (this.#requested !== undefined) this.#slowPath?.more(this.#requested);
  }

  /** Call it when the connection has ended. */
  close(): void {
    for (const id of this.#open) {
      this.#forget(id);
      this.#slowPath?.close(id);
    }
  }

  #forget(id: number): void {
    if (this.#open.delete(id)) this.#connection.network.slowMessages--;
  }
}
