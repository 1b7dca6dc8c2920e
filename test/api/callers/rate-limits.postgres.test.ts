import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../../src/api/callers/rate-limits.ts';
import { openDatabase } from '../../../src/store/postgres/database.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

describe('the limit of a key', () => {
  const database = keptDatabase();

  it('counts the requests of all processes together, and each key separately', async () => {
    const second = openDatabase(database.url);
    const limits = [createRateLimit(database.db, 10), createRateLimit(second, 10)];
    const taken = await Promise.all(
      Array.from({ length: 30 }, (_, i) => limits[i % 2]?.take(`key:${i % 3 === 0 ? 2 : 1}`)),
    );
    await second.destroy();
    expect(taken.filter((each) => each?.problem === undefined)).toHaveLength(20); // 10 of each key
  });

  it('refuses requests until the oldest one is a minute old, without querying PostgreSQL before', async () => {
    let nowMs = 0;
    const limit = createRateLimit(database.db, 1, () => nowMs);
    expect((await limit.take('key:50')).problem).toBeUndefined();
    const { problem } = await limit.take('key:50');
    const seconds = Number(problem?.headers['Retry-After']);
    expect([problem?.status, seconds]).toEqual([429, 60]);
    const past = sql`array[(extract(epoch from clock_timestamp())::bigint * 1000 - 61000) << 20 | 1]`;
    await sql`update call_windows set calls = ${past} where subject = 'key:50'`.execute(database.db);
    expect((await limit.take('key:50')).problem?.status).toBe(429);
    nowMs = seconds * 1000;
    expect((await limit.take('key:50')).problem).toBeUndefined();
  });

  it('is counted in memory while PostgreSQL is unavailable', async () => {
    const gone = openDatabase('postgresql://nobody@127.0.0.1:1/nothing', { connectTimeoutMs: 200 });
    const limit = createRateLimit(gone, 2);
    const taken = [await limit.take('a'), await limit.take('a'), await limit.take('a')];
    expect(taken.map(({ problem }) => problem?.status)).toEqual([undefined, undefined, 429]);
    await gone.destroy();
  });
});

describe('the rate limit in responses', () => {
  const api = ownApi(() => startTestApi({ requestsPerMinute: 3 }));

  it('is a 429 with the time to wait, and earlier responses contain the remaining requests', async () => {
    const left: unknown[] = [];
    for (const path of ['/domains/ns-sets', '/nowhere', '/users/me']) {
      const { headers } = await api.ask('GET', path);
      left.push(headers['ratelimit-remaining']);
      expect(headers['ratelimit-limit']).toBe('3');
      expect(Number(headers['ratelimit-reset'])).toBeGreaterThan(0);
    }
    expect(left).toEqual(['2', '1', '0']);
    const { status, body, headers } = await api.ask('GET', '/users/me');
    expect([status, body]).toEqual([429, { error: 'rate limit exceeded' }]);
    expect(Number(headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(headers['retry-after'])).toBeLessThanOrEqual(60);
    expect(headers['ratelimit-remaining']).toBe('0');
    expect((await api.ask('GET', '/domains/ns-sets', { as: 'viewer' })).status).toBe(200);
    expect((await api.ask('GET', '/domains/ns-sets', { as: null })).status).toBe(401);
    expect((await api.ask('GET', '/openapi.yaml', { as: null })).status).toBe(200);
  });

  it('counts each domain of a batch towards a limit of the account, and carries out the batch that begins below it', async () => {
    const batch = (...names: string[]) =>
      api.ask('POST', '/domains/batch', {
        as: 'stranger',
        body: { domains: names.map((name) => ({ name })) },
      });
    expect((await batch('com', 'net', 'org', 'info')).body).toMatchObject({ refused: 4 });
    const { status, body, headers } = await batch('one.com');
    expect([status, body]).toEqual([
      429,
      { error: 'an account can list 3 domains in 60 seconds in this call' },
    ]);
    expect(headers['retry-after']).toMatch(/^[56]\d$/);
    expect((await api.ask('GET', '/domains/', { as: 'stranger' })).body).toEqual([]);
  });
});
