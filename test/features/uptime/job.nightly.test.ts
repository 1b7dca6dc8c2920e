// Workers evaluate minutes with their own rights, from counts that the test writes. Checks what customers then read
// and receive.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { judgeNext, type MinuteSource } from '../../../src/features/uptime/job.ts';
import type { HostMinute } from '../../../src/features/uptime/sql-judge.ts';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { type Database, openDatabase } from '../../../src/store/postgres/database.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { asRole } from '../../support/database/database.ts';
import { emptyTables } from '../../support/database/domains.ts';

const api = sharedTestApi();
let worker: Database;
let domain: Domain;
let made = 0;
let name: string;
/** Requests and failures of every minute from now on, by host. */
let traffic: Record<string, readonly [number, number]>;
let isAway: boolean;
let isFollowed: boolean;
const asked: number[] = [];

const source: MinuteSource = {
  async newest() {
    if (isAway) throw new Error('the store is away');
    return isFollowed ? Number.MAX_SAFE_INTEGER : 0;
  },
  async hosts({ minute, after, last, suspects, limit }) {
    if (isAway) throw new Error('the store is away');
    asked.push(minute);
    const hosts = Object.entries(traffic).map(([key, [requests, failures]]): HostMinute => {
      const [domainId, host] = key.split(' ') as [string, string];
      return { domainId: Number(domainId), host, requests, failures };
    });
    const failing = new Set(hosts.flatMap(({ domainId, failures }) => (failures > 0 ? [domainId] : [])));
    const ids = [...new Set(hosts.map(({ domainId }) => domainId))]
      .filter((id) => id > after && id <= last && (failing.has(id) || suspects.includes(id)))
      .sort((a, b) => a - b)
      .slice(0, limit);
    return hosts.filter(({ domainId }) => ids.includes(domainId));
  },
};

beforeAll(() => {
  worker = openDatabase(asRole(api.database.url, 'zonefleet_worker'));
});
afterAll(() => worker?.destroy());
beforeEach(async () => {
  await emptyTables(api.database.db, 'uptime_incidents', 'uptime_states', 'outage_mails', 'mails');
  await api.query`update uptime_round set judged = null, lease_until = '-infinity'`;
  traffic = {};
  isAway = false;
  isFollowed = true;
  name = `shop${made++}.test`;
  domain = await watch(name);
  await api.query`update domains set created_at = created_at - interval '1 day'`;
});

/** A domain with a monitored record at `www`, and an unmonitored one at `other`. */
async function watch(of: string): Promise<Domain> {
  const found = await api.makeDomain(of);
  const record = { type: 'A', destination: '192.0.2.1', proxied: true };
  for (const [label, monitor] of [
    ['www', true],
    ['other', false],
  ] as const) {
    const body = { ...record, name: label, monitor };
    expect((await api.ask('POST', `/domains/${of}/records/`, { body })).status).toBe(200);
  }
  await set({ outage_alerts: true, uptime_window_min: 5, uptime_min_requests: 20 }, of);
  return found;
}

async function set(body: object, of = name): Promise<void> {
  expect((await api.ask('PUT', `/domains/${of}`, { body })).status).toBe(200);
}

const options = { source, sendsMail: true, onJudged: () => {} };

/** Adds this many minutes, of those that ended up to fifty minutes ago. */
async function judge(minutes: number): Promise<{ begun: number; ended: number }> {
  await api.query`
    update uptime_round set judged = coalesce(judged, floor(extract(epoch from clock_timestamp()) / 60) - 50)`;
  const all = { begun: 0, ended: 0 };
  for (let n = 0; n < minutes; n++) {
    const onJudged = ({ begun, ended }: typeof all) => {
      all.begun += begun;
      all.ended += ended;
    };
    await judgeNext({ ...options, db: worker, onJudged });
  }
  return all;
}

/** The last evaluated minute is this long ago. */
const judgedWas = (minutesAgo: number) =>
  api.query`update uptime_round set judged = floor(extract(epoch from clock_timestamp()) / 60) - ${minutesAgo}::integer`;

const www = (requests: number, failures: number, of = domain.id, at = name) => {
  traffic[`${of} www.${at}`] = [requests, failures];
};
const uptime = async (period = '24h') =>
  (await api.ask('GET', `/domains/${name}/uptime?period=${period}`, { as: 'viewer' })).body;
const mails = async () => {
  const rows = await api.query<{ email: string; message: string }>`
    select email, message from mails where kind in ('outage', 'outage-over') order by id`;
  return rows;
};
const states = async () => (await api.query<{ state: object }>`select state from uptime_states`).length;

describe('an outage', () => {
  it('is detected from minutes that were down, notified once, and ends after enough clear ones', async () => {
    const hook = { body: { url: 'https://hooks.shop.test/' } };
    const webhook = (await api.ask('POST', `/domains/${name}/webhooks`, hook)).body;
    // Failures of hosts that are not monitored do not count.
    for (const host of ['other', 'nowhere']) traffic[`${domain.id} ${host}.${name}`] = [100, 100];
    www(10, 9);
    expect(await judge(4)).toEqual({ begun: 0, ended: 0 });
    expect(await judge(3)).toEqual({ begun: 1, ended: 0 });
    expect((await uptime()).incidents).toEqual([
      { id: expect.any(Number), started_at: expect.any(String), error_pct: 90 },
    ]);
    expect(await mails()).toEqual([
      {
        email: 'owner@zonefleet.test',
        message: expect.stringMatching(/^Since .* UTC, your origins .* 90 %/),
      },
    ]);
    www(10, 0);
    expect(await judge(2)).toEqual({ begun: 0, ended: 0 });
    expect(await judge(1)).toEqual({ begun: 0, ended: 1 });
    const { incidents, uptime_pct, judged_until } = await uptime();
    expect(incidents).toMatchObject([{ ended_at: expect.any(String), error_pct: 90 }]);
    expect([typeof uptime_pct, new Date(judged_until) < new Date()]).toEqual(['number', true]);
    expect((await mails())[1]?.message).toMatch(/^Your origins respond again\. From .* to .* 90 %/);
    const told = (await api.ask('GET', `/domains/${name}/webhooks/${webhook.id}/deliveries`)).body;
    expect(told.map(({ event }: { event: string }) => event)).toEqual(['outage.ended', 'outage.begun']);
    const rows = await api.query<{ body: string }>`
      select body from webhook_deliveries where event = 'outage.begun'`;
    expect(JSON.parse(rows[0]?.body as string)).toMatchObject({
      event: 'outage.begun',
      domain: name,
      data: { incident: { id: incidents[0].id, error_pct: 90 } },
    });
    expect(await states()).toBe(0);
  });

  it('that flaps is notified three times per hour, each time with its end', async () => {
    await set({
      uptime_window_min: 2,
      uptime_min_requests: 0,
      uptime_min_active_min: 1,
      uptime_recover_min: 1,
    });
    let begun = 0;
    for (let n = 0; n < 6; n++) {
      www(10, 10);
      begun += (await judge(2)).begun;
      www(10, 0);
      await judge(1);
    }
    expect(begun).toBe(6);
    const texts = (await mails()).map(({ message }) => message);
    expect(texts.filter((text) => text.startsWith('Since'))).toHaveLength(3);
    expect(texts.filter((text) => text.startsWith('Your origins respond again'))).toHaveLength(3);
    expect(texts.filter((text) => text.includes('not notify you of them for an hour'))).toHaveLength(1);
    expect((await uptime()).incidents).toHaveLength(6);
    await api.query`update uptime_incidents set noted_at = noted_at - interval '61 minutes'`;
    www(10, 10);
    await judge(2);
    expect(await mails()).toHaveLength(7);
  });

  it('is mailed for at most fifty domains of an account per hour', async () => {
    await api.query`insert into outage_mails values (${api.accountIds.owner}, date_trunc('hour', clock_timestamp()), 50)`;
    www(10, 10);
    expect(await judge(6)).toEqual({ begun: 1, ended: 0 });
    expect(await mails()).toEqual([]);
  });

  it('ends without a notification if no record is monitored any more', async () => {
    www(10, 10);
    await judge(6);
    const { body } = await api.ask('GET', `/domains/${name}/records/`);
    const record = body.find(({ monitor }: { monitor: boolean }) => monitor);
    await api.ask('PUT', `/domains/${name}/records/${record.id}`, { body: { monitor: false } });
    expect(await judge(1)).toEqual({ begun: 0, ended: 1 });
    expect([(await mails()).length, (await uptime()).incidents[0].ended_at === undefined]).toEqual([
      1,
      false,
    ]);
  });
});

describe('while the analytics store is unavailable,', () => {
  it('nothing is concluded, and the minutes are evaluated afterwards', async () => {
    www(10, 10);
    await judge(4);
    isAway = true;
    await expect(judge(1)).rejects.toThrow('away');
    await expect(judge(1)).rejects.toThrow('away');
    expect([(await uptime()).incidents, await mails()]).toEqual([[], []]);
    isAway = false;
    expect(await judge(1)).toEqual({ begun: 1, ended: 0 });
    isAway = true;
    await expect(judge(1)).rejects.toThrow('away');
    expect((await uptime()).incidents[0].ended_at).toBeUndefined();
  });

  it('a minute waits up to ten minutes for reports of a later one', async () => {
    isFollowed = false;
    asked.length = 0;
    await judgedWas(5);
    expect(await judgeNext({ ...options, db: worker })).toEqual({ isMore: false });
    expect(asked).toEqual([]);
    isFollowed = true;
    await judgeNext({ ...options, db: worker });
    expect(asked).toHaveLength(1);
    isFollowed = false;
    await judgedWas(20);
    expect(await judgeNext({ ...options, db: worker })).toEqual({ isMore: true });
    expect(asked).toHaveLength(2);
  });

  it('for more than a day, older minutes are skipped', async () => {
    asked.length = 0;
    await judgedWas(5000);
    await judgeNext({ ...options, db: worker });
    const rows = await api.query<{ ago: number }>`
      select floor(extract(epoch from clock_timestamp()) / 60)::bigint - judged as ago from uptime_round`;
    expect(rows[0]?.ago).toBeGreaterThanOrEqual(1440);
    expect(rows[0]?.ago).toBeLessThan(1445);
  });
});

describe('a round', () => {
  it('runs in one worker, starts two minutes after the minute, and continues the work of a lost worker', async () => {
    await judgedWas(2);
    asked.length = 0;
    expect(await judgeNext({ ...options, db: worker })).toEqual({ isMore: false });
    await judgedWas(10);
    const lease = (by: string) =>
      api.query`update uptime_round set lease_until = clock_timestamp() + ${by}::interval`;
    await lease('1 minute');
    expect(await judgeNext({ ...options, db: worker })).toEqual({ isMore: false });
    expect(asked).toEqual([]);
    await lease('-1 second');
    await judgeNext({ ...options, db: worker });
    expect(asked).toHaveLength(1);
  });

  it('evaluates a minute again without counting it twice', async () => {
    www(10, 10);
    await judge(3);
    for (let n = 0; n < 2; n++) {
      await api.query`update uptime_round set judged = judged - 1`;
      await judge(1);
    }
    const rows = await api.query<{
      downs: unknown[];
    }>`select state->'downs' as downs from uptime_states`;
    expect(rows[0]?.downs).toHaveLength(3);
  });
});

describe('GET /domains/{domain}/uptime', () => {
  it('returns no percentage before the first evaluated minute', async () => {
    expect(await uptime()).toEqual({ incidents: [] });
  });

  it('accepts the periods of analytics, and treats unknown ones as 24h', async () => {
    await judgedWas(3);
    await api.query`
      update domains set created_at = clock_timestamp() - interval '60 days' where id = ${domain.id}`;
    await api.query`
      insert into uptime_incidents (domain_id, started_at, ended_at, requests, failures)
      select ${domain.id}, clock_timestamp() - interval '10 hours', clock_timestamp() - interval '4 hours', 30, 20`;
    const pct = async (period: string) => (await uptime(period)).uptime_pct;
    expect([(await uptime('3h')).incidents, await pct('3h')]).toEqual([[], 100]);
    expect(await pct('12h')).toBeCloseTo(50, 0);
    expect(await pct('7d')).toBeCloseTo(100 - 600 / 168, 0);
    expect(await pct('toString')).toBeCloseTo(75, 0);
    expect(await pct('24h')).toBeCloseTo(await pct('400d'), 1);
    expect((await uptime('30d')).incidents[0].error_pct).toBe(66.7);
  });
});
