// A process that takes checks from the queue, prints them, and never finishes one, so that a test can kill it.
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
