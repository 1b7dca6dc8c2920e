import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRedisLeases } from '../../src/jobs/redis-leases.ts';
import { HAS_REDIS, NEEDS_REDIS, type RedisServer, startRedis } from '../support/database/redis.ts';
import { until } from '../support/tests/until.ts';

describe.skipIf(!HAS_REDIS)(`leases in Redis${NEEDS_REDIS}`, () => {
  let redis: RedisServer;
  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it('never exceed the limit per second over all processes, and are counted by address', async () => {
    const sources = [openRedisLeases(redis.url, 50), openRedisLeases(redis.url, 50)];
    const take = (address: string) =>
      Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          (sources[index % 2] as (typeof sources)[number]).lease(address, 7),
        ),
      );
    await until(
      () =>
        take('192.0.2.9').then(
          () => true,
          () => false,
        ),
      'Redis answers',
    );
    // All within one second, which starts with the first grant after a pause.
    let first = await (sources[0] as (typeof sources)[number]).lease('192.0.2.1', 50);
    await until(async () => {
      first = await (sources[0] as (typeof sources)[number]).lease('192.0.2.1', 1);
      return first.granted === 1;
    });
    const all = await take('192.0.2.1');
    expect(all.reduce((sum, lease) => sum + lease.granted, first.granted)).toBe(50);
    for (const lease of all) {
      expect(lease.granted).toBeLessThanOrEqual(7);
      if (lease.granted > 0) expect(lease.retryAfterMs).toBe(0);
      else expect(lease.retryAfterMs).toBeGreaterThan(0);
      expect(lease.retryAfterMs).toBeLessThanOrEqual(1000);
    }
    expect((await (sources[1] as (typeof sources)[number]).lease('192.0.2.2', 5)).granted).toBe(5);
    await Promise.all(sources.map((source) => source.close()));
  });

  it('fail if Redis is unavailable', async () => {
    const gone = await startRedis();
    const source = openRedisLeases(gone.url, 50);
    await until(() =>
      source.lease('192.0.2.1', 1).then(
        () => true,
        () => false,
      ),
    );
    await gone.stop();
    await expect(source.lease('192.0.2.1', 1)).rejects.toThrow();
    await source.close();
  });
});
