// docs/operating/runbooks/lose-redis.md, with Debian's redis-server and workers whose resolver reaches no server.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createDatabase, type TestDatabase, urlsOf } from '../../support/database/database.ts';
import { NEEDS_REDIS, type RedisServer, startRedis } from '../../support/database/redis.ts';
import { freePort } from '../../support/processes/free-port.ts';
import { type Machine, prepareMachine, runbook } from '../../support/runbooks/machine.ts';
import { prepareFleet } from '../../support/runbooks/prepare-fleet.ts';
import { until } from '../../support/tests/until.ts';

let database: TestDatabase;
let redis: RedisServer;
let machine: Machine;

beforeAll(async () => {
  if (NEEDS_REDIS !== '') return;
  database = await createDatabase();
  redis = await startRedis();
  const service = {
    start: async () => {
      redis = await startRedis(redis.port);
    },
    stop: () => redis.stop(),
  };
  machine = await prepareMachine({ 'redis://127.0.0.1:6379/0': redis.url }, { 'redis-server': service });
  const rootHints = join(machine.folder, 'root.hints');
  writeFileSync(rootHints, '. 3600000 NS a.root.\na.root. 3600000 A 127.0.0.1\n');
  const lab = { ROOT_HINTS: rootHints, DNS_PORT_OUT: `${await freePort()}`, RESOLVER_ALLOW: '127.0.0.0/8' };
  await prepareFleet(machine, urlsOf(database), { ...lab, REDIS_URL: redis.url });
  await machine.start('api', 'workers');
});
afterAll(async () => {
  await machine?.end();
  await redis?.stop();
  await database?.drop();
});

it.skipIf(NEEDS_REDIS !== '')(
  `checks run again with an empty Redis, and with the queue in Postgres${NEEDS_REDIS}`,
  async () => {
    const page = runbook('lose-redis');
    const verify = runbook('lose-redis');
    await redis.stop();
    await until(async () => {
      const ready = await fetch(`http://127.0.0.1:${machine.ports.workers}/readyz`);
      return ready.status === 503 && /queue|redis/i.test(await ready.text());
    }, 'the workers report that the queue is away');
    expect(await machine.run(page, 'Check', 1)).toMatch(/(queue|redis).*refused/is);
    expect(await machine.run(page, 'Act')).toContain('OK'); // starts an empty Redis
    expect(await machine.run(verify, 'Verify', 1)).toMatch(/checked shop\.example unknown/);

    await redis.stop();
    await machine.run(page, 'Act'); // moves the queue to Postgres
    expect(machine.setting('workers', 'REDIS_URL')).toBeUndefined();
    expect(await machine.run(page, 'Verify', 1)).toMatch(/checked shop\.example unknown/);
    expect(page.rest()).toEqual([]);
  },
);
