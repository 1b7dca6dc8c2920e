// The limit on requests of a key, or of the sessions of an account, in a minute, counted in Postgres over all API processes, or by each process alone
// while Postgres cannot count. What is beyond its limit is refused from memory until its minute is over.

import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from 'rate-limiter-flexible';
import type { Database } from '../../store/postgres/database.ts';
import { statementClient } from '../../store/postgres/statement-client.ts';
import { Problem } from '../answers/problem.ts';

const WINDOW_SECONDS = 60;

export interface RateLimit {
  /** Counts one request. `headers` belong on its answer in any case. */
  take(id: number): Promise<{ headers: Record<string, string>; problem: Problem | undefined }>;
}

export function createRateLimit(
  db: Database,
  requestsPerMinute: number,
  of: 'key' | 'session' = 'key',
): RateLimit {
  const rate = { points: requestsPerMinute, duration: WINDOW_SECONDS, keyPrefix: of };
  const limiter = new RateLimiterPostgres({
    ...rate,
    storeClient: statementClient(db),
    storeType: 'pool',
    tableName: 'rate_limits',
    tableCreated: true,
    inMemoryBlockOnConsumed: requestsPerMinute + 1,
    insuranceLimiter: new RateLimiterMemory(rate),
  });
  return {
    async take(id) {
      try {
        return { headers: rateHeaders(await limiter.consume(String(id))), problem: undefined };
      } catch (refused) {
        if (!(refused instanceof RateLimiterRes)) throw refused;
        const headers = rateHeaders(refused);
        const retry = { 'Retry-After': headers['RateLimit-Reset'] as string };
        return { headers, problem: new Problem(429, 'rate limit exceeded', { headers: retry }) };
      }
    },
  };

  function rateHeaders({ remainingPoints, msBeforeNext }: RateLimiterRes): Record<string, string> {
    return {
      'RateLimit-Limit': String(requestsPerMinute),
      'RateLimit-Remaining': String(Math.max(0, remainingPoints)),
      'RateLimit-Reset': String(Math.max(1, Math.ceil(msBeforeNext / 1000))),
    };
  }
}
