// A process that takes checks out of the queue, says which, and never gets to the end of one: to be killed.
//   check-worker-child.ts DATABASE_URL REDIS_URL [LOCK_MS] [CONCURRENCY]

import { runJobWorker } from '../../../src/jobs/job-worker.ts';
import { CHECK_DELEGATION } from '../../../src/jobs/jobs.ts';

const [databaseUrl = '', redisUrl = '', lockMs = '', concurrency = '3'] = process.argv.slice(2);
runJobWorker(
  { databaseUrl, redisUrl: redisUrl === '' ? undefined : redisUrl },
  CHECK_DELEGATION,
  async (job) => {
    process.stdout.write(`${JSON.stringify(job)}\n`);
    await new Promise(() => {});
  },
  {
    concurrency: Number(concurrency),
    ...(lockMs !== '' && { lockMs: Number(lockMs) }),
    onTrouble: () => {},
    onFailed: () => {},
  },
);
