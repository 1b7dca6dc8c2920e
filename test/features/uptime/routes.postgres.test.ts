// The settings of uptime, set and read over HTTP. test/features/uptime/rules.test.ts proves how they are evaluated.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { judgeNext, type MinuteSource } from '../../../src/features/uptime/job.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { asRole } from '../../support/database/database.ts';

const api = sharedTestApi();
let worker: Database;
let domain: Domain;
let name: string;
let made = 0;
/** Requests and failures of the evaluated minute. */
let minute: readonly [number, number];

const source: MinuteSource = {
  newest: async () => Number.MAX_SAFE_INTEGER,
  hosts: async ({ after, last, suspects }) => {
    const [requests, failures] = minute;
    const isTold = after < domain.id && domain.id <= last && requests > 0;
    if (!isTold || (failures === 0 && !suspects.includes(domain.id))) return [];
    return [{ domainId: domain.id, host: `www.${name}`, requests, failures }];
  },
};

beforeAll(async () => {
  worker = openDatabase(asRole(api.database.url, 'zonefleet_worker'));
});
afterAll(() => worker?.destroy());
beforeEach(async () => {
  name = `shop${made++}.test`;
  domain = await api.makeDomain(name);
  const body = { name: 'www', type: 'A', destination: '192.0.2.1', proxied: true, monitor: true };
  expect((await api.ask('POST', `/domains/${name}/records/`, { body })).status).toBe(200);
  await judgeFrom(200);
});

const judgeFrom = (minutesAgo: number) =>
  api.query`
    update uptime_round set judged = floor(extract(epoch from clock_timestamp()) / 60) - ${minutesAgo}::integer`;

const RULES = {
  uptime_threshold_pct: 80,
  uptime_window_min: 4,
  uptime_min_requests: 0,
  uptime_min_active_min: 1,
  uptime_recover_min: 2,
};
async function set(rules: object): Promise<void> {
  const { status } = await api.ask('PUT', `/domains/${name}`, { body: { ...RULES, ...rules } });
  expect(status).toBe(200);
}

/** Evaluates this many further minutes. */
async function pass(count: number, requests: number, failures: number): Promise<void> {
  minute = [requests, failures];
  for (let n = 0; n < count; n++)
    await judgeNext({ db: worker, source, sendsMail: true, onJudged: () => {} });
}
const incidents = async (): Promise<{ ended_at?: string }[]> =>
  (await api.ask('GET', `/domains/${name}/uptime`, { as: 'viewer' })).body.incidents;
const isDown = async () => (await incidents()).some(({ ended_at }) => ended_at === undefined);

it('has no percentage while no proxied record has monitor, but lists incidents', async () => {
  await set({});
  await pass(4, 10, 10);
  await judgeFrom(0);
  await api.query`update domains set created_at = clock_timestamp() - interval '1 hour' where id = ${domain.id}`;
  const uptime = async () => (await api.ask('GET', `/domains/${name}/uptime`)).body;
  expect(await uptime()).toMatchObject({ uptime_pct: expect.any(Number), incidents: [{}] });
  await api.query`update records set monitor = false where domain_id = ${domain.id}`;
  const unmonitored = await uptime();
  expect(unmonitored).toMatchObject({ judged_until: expect.any(String), incidents: [{}] });
  expect(unmonitored).not.toHaveProperty('uptime_pct');
});

describe('the settings of uptime', () => {
  type Minutes = readonly [count: number, requests: number, failures: number];
  const halting: Minutes[] = Array.from({ length: 6 }, () => [
    [1, 100, 100] as const,
    [1, 0, 0] as const,
  ]).flat();

  it.each<[setting: string, wrong: number, Minutes[], right: number, Minutes]>([
    ['uptime_threshold_pct', 60, [[8, 100, 59]], 60, [8, 100, 60]],
    ['uptime_window_min', 6, [[5, 10, 10]], 6, [1, 10, 10]],
    ['uptime_min_requests', 41, [[9, 10, 10]], 40, [1, 10, 10]],
    ['uptime_min_active_min', 3, halting, 2, [1, 100, 100]],
  ])('%s decides when an incident begins', async (setting, wrong, quiet, right, down) => {
    await set({ [setting]: wrong });
    for (const minutes of quiet) await pass(...minutes);
    expect(await incidents()).toEqual([]);
    await set({ [setting]: right });
    await pass(...down);
    expect(await isDown()).toBe(true);
  });

  it('uptime_recover_min: this many successive healthy minutes end an incident, at the first of them', async () => {
    await set({ uptime_recover_min: 3 });
    await pass(4, 10, 10);
    await pass(2, 10, 0);
    await pass(1, 10, 10);
    await pass(2, 10, 0);
    expect(await isDown()).toBe(true);
    await pass(1, 10, 0);
    const [{ started_at, ended_at }] = (await incidents()) as [{ started_at: string; ended_at: string }];
    expect((Date.parse(ended_at) - Date.parse(started_at)) / 60_000).toBe(7);
  });

  it('outage_alerts: notifies the owner by mail and webhooks; incidents are recorded without it', async () => {
    const hook = { body: { url: 'https://hooks.shop.test/' } };
    const { id } = (await api.ask('POST', `/domains/${name}/webhooks`, hook)).body;
    const told = async () => {
      const { body } = await api.ask('GET', `/domains/${name}/webhooks/${id}/deliveries`);
      const rows = await api.query<{ kind: string; email: string }>`
        select kind, email from mails where kind like 'outage%' order by id`;
      return {
        hooks: body.map(({ event }: { event: string }) => event).reverse(),
        mails: rows.map(({ kind, email }) => `${kind} ${email}`),
      };
    };
    const outage = async () => {
      await pass(4, 10, 10);
      await pass(2, 10, 0);
    };
    await judgeFrom(50); // nobody is notified about incidents older than an hour
    await set({ outage_alerts: false });
    await outage();
    expect([(await incidents()).length, await told()]).toEqual([1, { hooks: [], mails: [] }]);
    await set({ outage_alerts: true });
    await outage();
    expect([(await incidents()).length, await told()]).toEqual([
      2,
      {
        hooks: ['outage.begun', 'outage.ended'],
        mails: ['outage owner@zonefleet.test', 'outage-over owner@zonefleet.test'],
      },
    ]);
  });
});
