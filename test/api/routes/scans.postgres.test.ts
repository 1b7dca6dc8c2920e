// test/api/actions/enqueue covers what all calls that wait for a worker have in common, test/store/scans what an
// import writes.

import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import type { ScanJob } from '../../../src/jobs/jobs.ts';
import { ownApi, startTestApi, type TestApi } from '../../support/api/api.ts';
import { FakeQueue } from '../../support/api/fake-queue.ts';
import { createDatabase } from '../../support/database/database.ts';
import { until } from '../../support/tests/until.ts';
import { type Found, runScan, scanOf } from '../../support/world/made-scans.ts';

const queue = new FakeQueue<ScanJob>();
let domains = 0;
/** Number of calls that joined a scan. A scan that has ended cannot be joined. */
let joins = 0;
/** The records that the worker finds. */
let lines: string[] = [];
const finds: Found = async (domain) => scanOf(lines, { domain });
const working = (found: Found) => (job: ScanJob) => runScan(api.database.db, job, found);

/** Has a worker start a scan, which finds `lines` after `finish`. */
async function slowly(job: ScanJob): Promise<void> {
  await new Promise<void>((begun) => {
    slow = working(async (domain) => {
      begun();
      await new Promise<void>((done) => {
        finish = done;
      });
      return scanOf(lines, { domain });
    })(job);
  });
}
let finish: () => void = () => {};
let slow: Promise<unknown> = Promise.resolve();

const api = ownApi(async () => {
  const database = await createDatabase();
  const joining = new WeakSet<object>();
  const db = database.db.withPlugin({
    transformQuery({ node, queryId }) {
      if (JSON.stringify(node).includes('finished_at is null for update')) joining.add(queryId);
      return node;
    },
    async transformResult({ result, queryId }) {
      if (joining.has(queryId)) joins++;
      return result;
    },
  });
  return await startTestApi({ scans: queue, database, db });
});
beforeEach(() => {
  queue.reset();
  queue.work = working(finds);
  lines = ['www A 198.51.100.1'];
});

async function freshDomain(options?: Parameters<TestApi['makeDomain']>[1]) {
  const name = `s${++domains}.example`;
  const { id } = await api.makeDomain(name, options);
  const path = `/domains/${name}/records/`;
  return {
    id,
    path,
    ofType: async (type: string) => (await api.ask('GET', `${path}?type=${type}`)).body,
    scan: () => api.ask('GET', `${path}scan`),
    scanImport: (query = '', headers = {}) => api.ask('POST', `${path}scan-import${query}`, { headers }),
  };
}

const openScans = async (id: number) => {
  const rows = await api.query`select kind, imports from scans where domain_id = ${id}`;
  return rows;
};
const GOES_ON = { complete: false, shortfalls: ['the scan is still running'] };

describe('POST scan-import', () => {
  it('imports records where the domain has none, and returns all its records', async () => {
    const { path, scanImport } = await freshDomain();
    const create = [
      { name: 'www', type: 'A', destination: '198.51.100.9' },
      { name: 'api', type: 'CNAME', destination: 'other.example.net' },
    ];
    await api.ask('PUT', `${path}batch`, { body: { create } });
    lines = [
      'www A 198.51.100.1',
      'api A 198.51.100.2',
      '@ 3600 MX 10 mail.example.net',
      '@ TXT v=spf1 -all',
    ];
    const { status, headers, body } = await scanImport();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      created: 2,
      skipped: 1,
      failed: [{ name: 'api', type: 'A', error: expect.stringMatching(/has a CNAME/) }],
      complete: true,
      shortfalls: [],
      left_out: [],
      names: 10,
      queries: 12,
    });
    const types = body.records.map(({ type }: { type: string }) => type);
    expect(types).toEqual(['CNAME', 'NS', 'NS', 'MX', 'TXT', 'A']);
    expect(headers['x-change-id']).toBe(String(body.change_id));
    const { body: change } = await api.ask('GET', path.replace('records/', `changes/${body.change_id}`));
    expect(headers['x-zone-serial']).toBe(String(change.serial));
    expect(change).toMatchObject({ source: 'scan', actor: { kind: 'key', user_id: api.accountIds.owner } });
    const repeat = await scanImport();
    expect(repeat.body).toMatchObject({ created: 0, skipped: 3 });
    expect([repeat.body.change_id, repeat.headers['x-change-id']]).toEqual([undefined, undefined]);
  });

  it('imports the results of a scan of the last 10 minutes unless `fresh` is set', async () => {
    const { path, scan, scanImport } = await freshDomain();
    const previewed = await scan();
    lines = ['other A 198.51.100.1'];
    const seen = async (query: string) => {
      const { body } = await scanImport(query);
      return [body.created, body.skipped, queue.jobs.length];
    };
    expect(await seen('?dry_run=true')).toEqual([1, 0, 1]);
    const reused = await scanImport();
    expect(reused.body).toMatchObject({ created: 1, started_at: previewed.body.started_at });
    const [change] = (await api.ask('GET', path.replace('records/', 'changes'))).body;
    expect(change).toMatchObject({ source: 'scan', id: reused.body.change_id });
    expect(await seen('')).toEqual([0, 1, 1]);
    expect(await seen('?fresh=true&dry_run=true')).toEqual([1, 0, 2]);
    expect(await seen('?fresh=true')).toEqual([1, 0, 3]);
    await api.query`update scans set finished_at = finished_at - interval '11 minutes'`;
    expect(await seen('')).toEqual([0, 1, 4]);
    expect((await scanImport('?dryrun=true')).status).toBe(400);
  });

  it('is a 402 for a domain without an active plan, like every import', async () => {
    const { id, scanImport } = await freshDomain({ planSlug: null });
    const { status, body } = await scanImport();
    expect([status, body.code]).toEqual([402, 'no_active_plan']);
    expect(await openScans(id)).toEqual([]);
  });

  it('returns to a repeated call what it imported from another scan', async () => {
    const { scan, scanImport } = await freshDomain();
    await scan();
    const headers = { 'idempotency-key': 'reused' };
    const first = await scanImport('', headers);
    await api.query`delete from idempotency_keys where key = 'reused'`; // the response was lost
    const repeat = await scanImport('', headers);
    expect([repeat.body.created, repeat.body.change_id]).toEqual([1, first.body.change_id]);
    expect(queue.jobs).toHaveLength(1);
  });

  it('continues after its call has ended, and a second call joins it', async () => {
    const { id, ofType, scanImport } = await freshDomain();
    queue.work = slowly;
    queue.waitMs = 50;
    const early = await scanImport();
    expect(early).toMatchObject({ status: 200, body: { created: 0, ...GOES_ON } });
    expect(early.body).not.toHaveProperty('finished_at');
    queue.waitMs = 10_000;
    const joinsBefore = joins;
    const second = scanImport();
    await until(() => joins > joinsBefore);
    expect(await openScans(id)).toHaveLength(1);
    finish();
    expect((await second).body).toMatchObject({ created: 1, complete: true });
    expect(await ofType('A')).toHaveLength(1);
  });
});

describe('GET scan', () => {
  it('returns what an import would add and skip, and writes nothing', async () => {
    const { path, ofType, scan } = await freshDomain();
    const body = { name: 'www', type: 'A', destination: '198.51.100.9' };
    await api.ask('POST', path, { body });
    lines.push('@ 3600 MX 10 mail.example.net');
    queue.work = working(async (domain) => scanOf(lines, { domain, wildcards: [domain] }));
    const { status, body: found } = await scan();
    expect([status, found.complete, found.wildcards]).toEqual([200, true, ['@']]);
    expect(found.records).toEqual([
      { name: 'www', type: 'A', destination: '198.51.100.1', ttl: 300, skipped: true },
      { name: '@', type: 'MX', destination: 'mail.example.net', mx_priority: 10, ttl: 3600, skipped: false },
    ]);
    expect(found).not.toHaveProperty('imported');
    expect(await ofType('MX')).toEqual([]);
  });

  it('returns the progress of a running import immediately', async () => {
    const { id, scan, scanImport } = await freshDomain();
    queue.work = slowly;
    const importing = scanImport();
    const begun = sql`select from scans where domain_id = ${id} and run is not null`;
    await until(async () => (await begun.execute(api.db)).rows.length > 0);
    expect((await scan()).body).toMatchObject({ ...GOES_ON, records: [] });
    const progress = { names: 5, of: 10, queries: 7, records: 2 };
    await api.query`update scans set progress = ${JSON.stringify(progress)} where domain_id = ${id}`;
    expect((await scan()).body).toMatchObject({ ...GOES_ON, progress, names: 5, queries: 7 });
    expect(queue.jobs).toHaveLength(1);
    finish();
    expect((await importing).body).toMatchObject({ created: 1, complete: true });
    expect((await scan()).body).toMatchObject({ complete: true, imported: { created: 1 } });
    await slow;
  });

  it('reports that a background import exceeds the plan', async () => {
    const { id, scan } = await freshDomain({ planSlug: 'free' });
    await api.query`
      insert into scans (domain_id, account_id, kind, imports, actor, due_at)
      select id, account_id, 'background', true, '{"kind": "system"}', now() from domains where id = ${id}`;
    lines = Array.from({ length: 201 }, (_, i) => `n${i} A 198.51.100.1`);
    const { body } = await scan();
    const error = 'the plan allows 200 records, but this would be 201';
    expect(body.imported).toEqual({ created: 0, skipped: 0, failed: [], error });
    expect(body.records).toHaveLength(201);
  });
});

it('POST domains schedules a scan of a managed domain, unless `scan` is false', async () => {
  const scansOf = async (body: object) =>
    await openScans((await api.ask('POST', '/domains/', { body })).body.id);
  expect(await scansOf({ name: 'scanned.example' })).toEqual([{ kind: 'background', imports: true }]);
  expect(await scansOf({ name: 'plain.example', scan: false })).toEqual([]);
  expect(await scansOf({ name: 'external.example', dns_mode: 'external' })).toEqual([]);
  expect(queue.jobs).toEqual([]); // the workers find it later
});
