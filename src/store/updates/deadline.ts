// The deadlines of dynamic updates. They are times of the database's clock, which all processes can compare with.

import { type RawBuilder, sql } from 'kysely';
import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate } from '../../dns/message/update.ts';
import type { Connection } from '../postgres/connection.ts';

/** The result of an update whose node has answered SERVFAIL. It is not recorded, so the client may repeat the message. */
export const TOO_LATE = refuseUpdate(RCODE.SERVFAIL, 'the node no longer waits for the answer');

/** SQL condition: the deadline, a timestamp as text, has passed. */
export function isPast(deadline: string): RawBuilder<boolean> {
  return sql<boolean>`clock_timestamp() >= ${deadline}::timestamptz`;
}

/** Both clocks run at almost the same speed. */
const MEASURE_EVERY_MS = 10_000;
/** A slower measurement is too inexact to be used again. */
const MOST_EXACT_MS = 250;

/** Converts times of `nowMs` into times of the database's clock. */
export class DatabaseClock {
  readonly #nowMs: () => number;
  #connection: Connection | undefined;
  #offsetMs = 0;
  #validUntilMs = 0;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
  }

  /**
   * Returns the milliseconds to add to `nowMs` for the database's time since 1970. The sum is not later than
   * the database's time. It is earlier by the time that the answer to the measurement took.
   */
  async offsetMs(connection: Connection): Promise<number> {
    if (connection === this.#connection && this.#nowMs() < this.#validUntilMs) return this.#offsetMs;
    const startMs = this.#nowMs();
    const [[databaseMs] = []] = await connection.query(
      'select (extract(epoch from clock_timestamp()) * 1000)::float8',
    );
    const endMs = this.#nowMs();
    this.#connection = connection;
    this.#offsetMs = (databaseMs as number) - endMs;
    this.#validUntilMs = endMs - startMs > MOST_EXACT_MS ? 0 : endMs + MEASURE_EVERY_MS;
    return this.#offsetMs;
  }
}
