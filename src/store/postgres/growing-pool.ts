// A pool of connections that grows one at a time beside the calls: each call takes the first connection that is free,
// and does not wait for the one that is opened because of it. On a busy machine opening one takes a second, and a burst
// would open them all.

import { Pool, type PoolClient, type PoolConfig } from 'pg';

/** All connections are in use, and the most calls allowed wait for one. */
export class PoolFull extends Error {
  override readonly name = 'PoolFull';
}

interface GrowingPoolConfig extends PoolConfig {
  readonly max: number;
  /** How many calls may wait for a connection; the next is refused at once. */
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
      throw new PoolFull(`${waitingCount} calls wait for a connection to the database`);
    }
    this.#grow();
    return await this.pool.connect();
  }

  async end(): Promise<void> {
    await this.pool.end();
  }

  /** Opens a connection. If that fails, the pool tries again for the call that waits longest, which gets the reason. */
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
