// A pool of connections that grows by one connection at a time: each call takes the first free connection, and need not
// wait for the new one. On a busy machine, opening one takes a second, and a burst would open them all.

import { Pool, type PoolClient, type PoolConfig } from 'pg';

/** All connections are in use, and the maximum number of calls wait for one. */
export class PoolFull extends Error {
  override readonly name = 'PoolFull';
}

interface GrowingPoolConfig extends PoolConfig {
  readonly max: number;
  /** Maximum number of calls that wait for a connection. Further calls are rejected immediately. */
  readonly maxWaiting: number;
}

export class GrowingPool {
  readonly pool: Pool;
  readonly #max: number;
  readonly #maxWaiting: number;
  #isGrowing = false;

  constructor({ maxWaiting, ...config }: GrowingPoolConfig) {
    this.#max = config.max;
    this.#maxWaiting = maxWaiting;
    this.pool = new Pool({ ...config, max: 1 });
  }

  /** Rejects with `PoolFull`, or with the reason why there is no connection. */
  async connect(): Promise<PoolClient> {
    const { waitingCount } = this.pool;
    if (waitingCount >= this.#maxWaiting) {
      throw new PoolFull(`${waitingCount} calls already wait for a database connection`);
    }
    this.#grow();
    return await this.pool.connect();
  }

  async end(): Promise<void> {
    await this.pool.end();
  }

  /** Opens a connection. If that fails, the pool retries for the call that waits longest, which gets the error. */
  #grow(): void {
    const { idleCount, waitingCount, totalCount, ending } = this.pool;
    if (this.#isGrowing || ending || idleCount > waitingCount || totalCount >= this.#max) return;
    this.#isGrowing = true;
    this.pool.options.max = totalCount + 1;
    const opened = this.pool.connect().then(
      (client) => client.release(),
      () => {},
    );
    void opened.then(() => {
      this.#isGrowing = false;
      if (this.pool.waitingCount > 0) this.#grow();
    });
  }
}
