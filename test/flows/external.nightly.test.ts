// A domain whose owner keeps DNS elsewhere becomes active by a TXT record: API and workers on a small internet of loopback
// addresses whose zone the owner edits.

import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { expectPublished } from '../support/database/domains.ts';
import { BACKENDS, type Backend } from '../support/database/queue-places.ts';
import { HAS_REDIS, NEEDS_REDIS, type RedisServer, startRedis } from '../support/database/redis.ts';
import { type ApiProcess, type HttpAnswer, startApi } from '../support/processes/api-process.ts';
import { startWorkers, type WorkersProcess } from '../support/processes/workers-process.ts';
import { scale } from '../support/tests/scale.ts';
import { startTogether } from '../support/tests/start-together.ts';
import { until } from '../support/tests/until.ts';
import { type StartedWorld, startWorld } from '../support/world/fake-internet.ts';

const SERVERS = [
  { name: 'ns1.dns.zz.', address: '127.0.1.3' },
  { name: 'ns2.dns.zz.', address: '127.0.1.4' },
] as const;
/** Every domain is on both servers. */
const LABELS = ['postgres', 'redis'] as const;
type Label = (typeof LABELS)[number];

/** What each server has at each domain's challenge. */
type Published = Partial<Record<Label, readonly [string | undefined, string | undefined]>>;

function worldText(published: Published): string {
  const apexes = [...LABELS.map((label) => `${label}.zz.`), 'dns.zz.'];
  const ns = (apex: string) => SERVERS.map(({ name }) => `  ${apex} NS ${name}`);
  const glue = SERVERS.map(({ name, address }) => `  ${name} A ${address}`);
  const challenge = (apex: string, i: number) => {
    const value = published[apex.slice(0, -4) as Label]?.[i];
    return value === undefined ? [] : [`  _svc-challenge.${apex} TXT "${value}"`];
  };
  const lines = [
    '# A registry, and two servers that need not say the same.',
    'server a.root. 127.0.1.1',
    '  serves .',
    'server a.nic.zz. 127.0.1.2',
    '  serves zz.',
    ...SERVERS.flatMap(({ name, address }, i) => [
      `server ${name} ${address}`,
      `  serves ${apexes.map((apex) => `${apex}/at${i}`).join(' ')}`,
    ]),
    'zone .',
    '  . NS a.root.',
    '  a.root. A 127.0.1.1',
    '  zz. NS a.nic.zz.',
    '  a.nic.zz. A 127.0.1.2',
    'zone zz.',
    '  zz. NS a.nic.zz.',
    '  a.nic.zz. A 127.0.1.2',
    ...apexes.flatMap(ns),
    ...glue,
    ...apexes.flatMap((apex) =>
      SERVERS.flatMap((_, i) => [
        `zone ${apex} at${i}`,
        ...ns(apex),
        ...(apex === 'dns.zz.' ? glue : challenge(apex, i)),
      ]),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

describe('a domain in external mode', () => {
  let world: StartedWorld;
  let published: Published = {};
  beforeAll(async () => {
    world = await startWorld({ text: worldText({}) });
  });
  afterAll(() => world?.close());

  function publish(label: Label, ...values: [string | undefined, string | undefined]): void {
    published = { ...published, [label]: values };
    world.become({ text: worldText(published) });
  }

  // Both kinds of queues have tests of their own: here one is enough, except in the whole proof.
  describe.each(BACKENDS.slice(0, scale(2, 1)))('with the queue on %s', (backend: Backend) => {
    const isMissing = backend === 'Redis' && !HAS_REDIS;
    const label = backend === 'Redis' ? 'redis' : 'postgres';
    let redis: RedisServer | undefined;
    let database: TestDatabase;
    let api: ApiProcess;
    let workers: WorkersProcess;

    beforeAll(async () => {
      if (isMissing) return;
      redis = backend === 'Redis' ? await startRedis() : undefined;
      database = await createDatabase();
      const settings = {
        ...world.settings,
        PUBLIC_RESOLVERS: '',
        ...(redis !== undefined && { REDIS_URL: redis.url }),
      };
      [api, workers] = await startTogether<[ApiProcess, WorkersProcess]>([
        startApi(database.url, { env: settings }),
        startWorkers(database.url, settings),
      ]);
    });
    afterAll(async () => {
      await Promise.all([api?.stop(), workers?.stop()]);
      await Promise.all([database?.drop(), redis?.stop()]);
    });

    const path = (of: Label) => `/domains/${of}.zz`;
    const look = async (of: Label): Promise<HttpAnswer['body']> => (await api.ask('GET', path(of))).body;
    const verify = (of: Label) => api.ask('POST', `${path(of)}/verify`);
    /** As if its time had come. */
    const due = (of: Label) =>
      sql`update domain_verifications set due_at = now(), next_at = now() where domain_id = (select id from domains where name = ${`${of}.zz.`})`.execute(
        database.db,
      );

    async function create(of: Label): Promise<{ id: number; value: string }> {
      const { status, body } = await api.ask('POST', '/domains/', { name: `${of}.zz`, dns_mode: 'external' });
      expect([status, body.status, body.served]).toEqual([200, 'unverified', 'none']);
      expect(body.verification).toMatchObject({ host: `_svc-challenge.${of}.zz`, verified: false });
      return { id: body.id, value: body.verification.value };
    }

    it.skipIf(isMissing)(
      `is unverified until every server has its record, and active by the service itself once they have${isMissing ? NEEDS_REDIS : ''}`,
      async () => {
        const { id, value } = await create(label);
        const server = (i: 0 | 1, outcome: string, values?: string[]) => ({
          server: SERVERS[i].name.slice(0, -1),
          address: SERVERS[i].address,
          outcome,
          ...(values && { values }),
        });
        const absent = await verify(label);
        expect(absent).toMatchObject({ status: 200, body: { status: 'unverified' } });
        expect(absent.body.verification).toMatchObject({
          found: 0,
          asked: 2,
          servers: [server(0, 'absent'), server(1, 'absent')],
          resolvers: [],
        });
        publish(label, value, undefined);
        expect((await verify(label)).body.verification).toMatchObject({
          verified: false,
          found: 1,
          asked: 2,
          servers: [server(0, 'found', [value]), server(1, 'absent')],
          message: expect.stringContaining('1 of 2'),
        });
        publish(label, value, value.toUpperCase()); // every letter's case counts
        expect((await verify(label)).body.verification).toMatchObject({
          verified: false,
          servers: [server(0, 'found', [value]), server(1, 'other', [value.toUpperCase()])],
        });
        publish(label, value, value);
        await due(label);
        await until(async () => (await look(label)).status === 'active', 'a worker has found it');
        const domain = await look(label);
        expect(domain).toMatchObject({
          served: 'none',
          findings: [],
          verification: { verified: true, found: 2 },
        });
        expect(domain.verification).not.toHaveProperty('next_attempt_at');
        const { body: changes } = await api.ask('GET', `${path(label)}/changes`);
        expect(changes.map((change: HttpAnswer['body']) => change.status)).toEqual(
          [{ from: 'unverified', to: 'active' }, { to: 'unverified' }].map((status) =>
            expect.objectContaining(status),
          ),
        );
        await expectPublished(database.db, id);
        const told = () =>
          workers
            .log()
            .split('\n')
            .filter((line) => line.includes('"status changed"'));
        await until(() => told().length > 0, 'it is told in the log');
        expect(told().map((line) => JSON.parse(line))).toEqual([
          expect.objectContaining({
            domain: `${label}.zz.`,
            from: 'unverified',
            to: 'active',
            verdict: 'verified',
          }),
        ]);
        const moves = 'zonefleet_transitions_total{from="unverified",to="active"}';
        expect(await workers.metric(moves)).toBe(1);
        const again = await verify(label);
        expect(again).toMatchObject({ status: 200, body: { status: 'active', verification: { found: 2 } } });
      },
    );
  });
});
