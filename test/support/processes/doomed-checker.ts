// A workers process that is killed. `observing`: its checks never end; it says so and waits to be killed. `saved`: it dies
// when the first run is saved, before the queue knows.
//   doomed-checker.ts observing|saved DATABASE_URL REDIS_URL LOCK_MS

import { runJobWorker } from '../../../src/queue/job-worker.ts';
import { CHECK_DELEGATION } from '../../../src/queue/jobs.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { createChecker } from '../../../workers/jobs/check-delegation.ts';
import { RULES } from '../database/saved-checks.ts';
import { evidenceOf } from '../world/made-checks.ts';

const [end, databaseUrl = '', redisUrl = '', lockMs] = process.argv.slice(2);
const check = createChecker({
  db: openDatabase(databaseUrl),
  resolver: {
    async observeDelegation(domain) {
      if (end === 'saved') return evidenceOf(domain, ['ns1.elsewhere.test.', 'ns2.elsewhere.test.']);
      process.stdout.write('observing\n');
      return await new Promise(() => {});
    },
  },
  rules: RULES,
  breaker: { isFrozen: () => false, count: () => {} },
  onOutcome: () => void process.kill(process.pid, 'SIGKILL'),
});
runJobWorker({ databaseUrl, redisUrl: redisUrl === '' ? undefined : redisUrl }, CHECK_DELEGATION, check, {
  concurrency: 3,
  lockMs: Number(lockMs),
  onTrouble: () => {},
  onFailed: () => {},
});
