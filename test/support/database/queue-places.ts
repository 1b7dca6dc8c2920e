// The databases for tests of the queue: the embedded Postgres, and Redis if it is installed.

import { QUEUES } from '../../../src/features/every-feature.ts';
import type { QueuePlace } from '../../../src/jobs/connection.ts';
import { migrateQueue } from '../../../src/jobs/connection.ts';
import { createDatabase } from './database.ts';
import { startRedis } from './redis.ts';

type Backend = 'Postgres' | 'Redis';
export const BACKENDS: readonly Backend[] = ['Postgres', 'Redis'];

export interface TestQueuePlace extends QueuePlace {
  drop(): Promise<void>;
}

export async function createQueuePlace(backend: Backend): Promise<TestQueuePlace> {
  if (backend === 'Redis') {
    const redis = await startRedis();
    return { databaseUrl: 'postgresql://nowhere/', redisUrl: redis.url, drop: redis.stop };
  }
  const database = await createDatabase();
  const place = { databaseUrl: database.url, redisUrl: undefined };
  await migrateQueue(place, QUEUES);
  return { ...place, drop: database.drop };
}
