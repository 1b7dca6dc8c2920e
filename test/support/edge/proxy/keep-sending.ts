// Sends what waits, piece by piece, until it is stopped: what the proxy's reports have in common.

import { setTimeout as pause } from 'node:timers/promises';

const EVERY_MS = 100;

export class KeepSending {
  #isStopped = false;
  #running: Promise<void> | undefined;

  /** `sendSome`: after how many milliseconds again; undefined: soon. */
  start(sendSome: () => Promise<number | undefined>): void {
    this.#running = (async () => {
      while (!this.#isStopped) await pause((await sendSome()) ?? EVERY_MS);
    })();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }
}
