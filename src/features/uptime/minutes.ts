// Reads the results of requests to origins from the analytics store, by minute.

import type { Analytics } from '../../analytics/open-analytics.ts';

interface HostMinute {
  readonly domainId: number;
  readonly host: string;
  readonly requests: number;
  readonly failures: number;
}

interface AskedMinute {
  /** Minute, counted since 1970. */
  readonly minute: number;
  /** Selects domains with larger ids, up to `last`. */
  readonly after: number;
  readonly last: number;
  /** Domains that are included even without failures. */
  readonly suspects: readonly number[];
  /** Maximum number of domains. Those with the smallest ids are selected. */
  readonly limit: number;
}

const SECONDS = 10;
/** Maximum number of hosts of a domain, because visitors can make up any number under a wildcard. */
const HOSTS = 100;

const TROUBLED = `
  SELECT domain_id FROM origins_minutely
  WHERE minute = toDateTime({at:UInt32}, 'UTC') AND domain_id > {after:UInt64} AND domain_id <= {last:UInt64}
  GROUP BY domain_id HAVING sum(failures) > 0 OR has({suspects:Array(UInt64)}, domain_id)
  ORDER BY domain_id LIMIT {limit:UInt32}`;

export class OriginMinutes {
  readonly #store: Pick<Analytics, 'query'>;

  constructor(store: Pick<Analytics, 'query'>) {
    this.#store = store;
  }

  /** Returns the newest minute that has a report, or undefined if there is none. */
  async newest(): Promise<number | undefined> {
    const rows = await this.#store.query<{ at: number | string }>(
      'SELECT toUnixTimestamp(minute) AS at FROM origins_minutely ORDER BY minute DESC LIMIT 1',
      {},
      { seconds: SECONDS },
    );
    return rows[0] === undefined ? undefined : Math.floor(Number(rows[0].at) / 60);
  }

  /** Sorted by domain. */
  async hosts({ minute, after, last, suspects, limit }: AskedMinute): Promise<HostMinute[]> {
    const rows = await this.#store.query<{ id: string; host: string; n: string; failed: string }>(
      `SELECT toString(domain_id) AS id, host, toString(sum(requests)) AS n, toString(sum(failures)) AS failed
       FROM origins_minutely
       WHERE minute = toDateTime({at:UInt32}, 'UTC') AND domain_id IN (${TROUBLED})
       GROUP BY domain_id, host ORDER BY domain_id, sum(requests) DESC, host LIMIT {hosts:UInt32} BY domain_id`,
      { at: minute * 60, after, last, suspects: [...suspects], limit, hosts: HOSTS },
      { seconds: SECONDS },
    );
    return rows.map(({ id, host, n, failed }) => ({
      domainId: Number(id),
      host,
      requests: Number(n),
      failures: Number(failed),
    }));
  }
}
