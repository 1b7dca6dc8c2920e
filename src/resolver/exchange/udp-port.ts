// A connected UDP socket on a random port: it receives only datagrams from its target address and port (RFC 5452 §9.2), and
// the kernel reports if no program listens there. It is closed with its last query. Queries, each with its own id, share a
// socket only if sockets are scarce.

import { createSocket, type Socket } from 'node:dgram';
import type { AttemptResult } from './attempt-result.ts';
import { setId } from './encode-query.ts';
import type { RandomBytes } from './random-bytes.ts';
import { isRefused, socketErrorText } from './socket-error.ts';
import type { Target } from './target.ts';
import type { UdpAttempt } from './udp-attempt.ts';

/** Maximum number of queries per port: the longer a port is open, the longer an attacker can guess. */
export const MAX_QUESTIONS = 16;

const SOCKET_TYPE = { 4: 'udp4', 6: 'udp6' } as const;

type Fault = Extract<AttemptResult, { kind: 'closed' | 'failed' }>;

export interface PortOptions {
  readonly random: RandomBytes;
  /** Called once, possibly before the owner knows the port if no socket could be created. */
  readonly onClosed: (port: UdpPort) => void;
}

export class UdpPort {
  readonly target: Target;
  readonly #options: PortOptions;
  readonly #socket: Socket;
  /** Attempts by query id. */
  readonly #asked = new Map<number, UdpAttempt>();
  #room = MAX_QUESTIONS;
  /** Attempts that wait until the socket is connected. Undefined once it is. */
  #early: UdpAttempt[] | undefined = [];
  #fault: Fault | undefined;

  constructor(target: Target, options: PortOptions) {
    this.target = target;
    this.#options = options;
    this.#socket = createSocket({ type: SOCKET_TYPE[target.family], lookup: noLookup });
    this.#socket.on('message', (octets, from) => this.#receive(octets, from));
    this.#socket.on('error', (error) => this.end(faultOf(error)));
    this.#socket.once('connect', () => this.#sendEarly());
    this.#socket.connect(target.port, target.address); // also binds it to a port that the kernel chooses
  }

  /** Number of queries that the port may still take. Zero once it is closed. */
  get room(): number {
    return this.#fault === undefined ? this.#room : 0;
  }

  send(attempt: UdpAttempt): void {
    if (this.#fault !== undefined) {
      attempt.finish(this.#fault);
      return;
    }
    let id = this.#options.random.uint16();
    while (this.#asked.has(id)) id = this.#options.random.uint16();
    setId(attempt.query, id);
    this.#asked.set(id, attempt);
    attempt.onEnd = () => this.#forget(id);
    this.#room--;
    if (this.#early === undefined) this.#transmit(attempt);
    else this.#early.push(attempt);
  }

  /** Ends all attempts: every failure (no listener, no route, no socket) concerns the address. */
  end(fault: Fault): void {
    if (this.#fault !== undefined) return;
    this.#close(fault);
    for (const attempt of [...this.#asked.values()]) attempt.finish(fault);
  }

  #sendEarly(): void {
    const early = this.#early ?? [];
    this.#early = undefined;
    for (const attempt of early) if (!attempt.ended) this.#transmit(attempt);
  }

  #transmit(attempt: UdpAttempt): void {
    attempt.begin();
    if (!attempt.ended) this.#socket.send(attempt.query, this.#onSent);
  }

  readonly #onSent = (error: Error | null) => {
    if (error !== null) this.end(faultOf(error));
  };

  #receive(octets: Buffer, from: { address: string; port: number }): void {
    // Also rejects packets received between binding and connecting.
    if (from.port !== this.target.port || from.address !== this.target.address || octets.length < 2) return;
    this.#asked.get(octets.readUInt16BE(0))?.receive(octets);
  }

  #forget(id: number): void {
    this.#asked.delete(id);
    if (this.#asked.size === 0 && this.#fault === undefined)
      this.#close({ kind: 'failed', error: 'the port is closed' });
  }

  #close(fault: Fault): void {
    this.#fault = fault;
    this.#socket.close();
    this.#options.onClosed(this);
  }
}

function faultOf(error: Error): Fault {
  return { kind: isRefused(error) ? 'closed' : 'failed', error: socketErrorText(error) };
}

/** A `lookup` that resolves no names, because only addresses are used here. */
function noLookup(
  address: string,
  _options: unknown,
  found: (error: null, address: string, family: number) => void,
): void {
  found(null, address, address.includes(':') ? 6 : 4);
}
