// Sends queries over UDP. Each has its own port while there are enough sockets. When sockets are scarce, queries to one
// address share a port and wait for it together, so that an address with many queries does not get more than one slot.

import type { AttemptOptions, AttemptResult, Transport } from './attempt-result.ts';
import type { OpenSockets } from './open-sockets.ts';
import type { RandomBytes } from './random-bytes.ts';
import type { Target } from './target.ts';
import { UdpAttempt } from './udp-attempt.ts';
import { MAX_QUESTIONS, type PortOptions, UdpPort } from './udp-port.ts';

interface WaitingAttempts {
  readonly start: () => void;
  attempts: UdpAttempt[];
}

export class UdpExchange implements Transport {
  readonly #sockets: OpenSockets;
  readonly #portOptions: PortOptions;
  readonly #ports = new Set<UdpPort>();
  /** The newest port for each address. */
  readonly #newest = new Map<Target, UdpPort>();
  readonly #waiting = new Map<Target, WaitingAttempts>();

  constructor(sockets: OpenSockets, random: RandomBytes) {
    this.#sockets = sockets;
    this.#portOptions = { random, onClosed: (port) => this.#forget(port) };
  }

  ask(target: Target, query: Uint8Array, options: AttemptOptions): Promise<AttemptResult> {
    return new Promise((resolve, reject) => {
      const attempt = new UdpAttempt(query, options, { resolve, reject });
      const port = this.#sockets.areScarce ? this.#newest.get(target) : undefined;
      if (port !== undefined && port.room > 0) port.send(attempt);
      else this.#wait(target, attempt);
    });
  }

  close(error: string): void {
    for (const { attempts } of [...this.#waiting.values()]) {
      for (const attempt of attempts) attempt.finish({ kind: 'failed', error });
    }
    for (const port of [...this.#ports]) port.end({ kind: 'failed', error });
  }

  #wait(target: Target, attempt: UdpAttempt): void {
    const waiting = this.#waiting.get(target);
    if (waiting !== undefined) {
      waiting.attempts.push(attempt);
      return;
    }
    const start = () => this.#open(target);
    this.#waiting.set(target, { start, attempts: [attempt] });
    this.#sockets.take(start);
  }

  /** Opens a socket for as many waiting attempts as one port takes. */
  #open(target: Target): void {
    const waiting = this.#waiting.get(target) as WaitingAttempts;
    const attempts = waiting.attempts.filter(({ ended }) => !ended);
    waiting.attempts = attempts.splice(MAX_QUESTIONS);
    if (waiting.attempts.length === 0) this.#waiting.delete(target);
    if (attempts.length === 0) {
      this.#sockets.release();
      return;
    }
    const port = new UdpPort(target, this.#portOptions);
    if (port.room > 0) {
      this.#ports.add(port);
      this.#newest.set(target, port);
    }
    for (const attempt of attempts) port.send(attempt);
    if (waiting.attempts.length > 0) this.#sockets.take(waiting.start);
  }

  #forget(port: UdpPort): void {
    this.#ports.delete(port);
    if (this.#newest.get(port.target) === port) this.#newest.delete(port.target);
    this.#sockets.release();
  }
}
