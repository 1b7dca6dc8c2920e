// The limit on requests in any 60 seconds, of a key, or of the sessions of an account: in Postgres over all API
// processes, or by each process alone while Postgres cannot count. Whoever is beyond the limit is refused from memory
// until the next request would be let in.

import { CallWindows, type TakenCall } from '../../store/accounts/call-windows.ts';
import type { Database } from '../../store/postgres/database.ts';
import { outageOf } from '../../store/postgres/outage.ts';
import { Problem } from '../answers/problem.ts';
import { MemoryWindows } from './memory-windows.ts';

export interface RateLimit {
  /** Counts one request. `subject`: who it counts for, as `key:17`, or `session:3` for the sessions of account 3. `headers` belong on its answer in any case. */
  take(subject: string): Promise<Counted>;
}

interface Counted {
  readonly limit: number;
  readonly remaining: number;
  /** Until there is one more. */
  readonly resetSeconds: number;
  readonly headers: Record<string, string>;
  readonly problem: Problem | undefined;
}

export function createRateLimit(
  db: Database,
  requestsPerMinute: number,
  nowMs: () => number = () => performance.now(),
): RateLimit {
  const shared = new CallWindows(db, requestsPerMinute);
  const own = new MemoryWindows(requestsPerMinute, nowMs);
  return {
    async take(subject) {
      const known = own.judge(subject);
      if (known !== undefined) return describe(known);
      const askedMs = nowMs(); // not when the answer came, so that nobody waits longer than needed
      try {
        const taken = await shared.take(subject);
        if (taken.admitted) own.note(subject, askedMs);
        else own.block(subject, askedMs + taken.waitMs);
        return describe(taken);
      } catch (error) {
        if (outageOf(error) === undefined) throw error;
        return describe(own.take(subject));
      }
    },
  };

  function describe({ admitted, used, waitMs }: TakenCall): Counted {
    const remaining = Math.max(0, requestsPerMinute - used);
    const resetSeconds = Math.ceil(waitMs / 1000);
    const headers = {
      'RateLimit-Limit': String(requestsPerMinute),
      'RateLimit-Remaining': String(remaining),
      'RateLimit-Reset': String(resetSeconds),
    };
    const retry = { 'Retry-After': headers['RateLimit-Reset'] };
    const problem = admitted ? undefined : new Problem(429, 'rate limit exceeded', { headers: retry });
    return { limit: requestsPerMinute, remaining, resetSeconds, headers, problem };
  }
}
