import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Api } from '../../../src/api/calls/call.ts';
import type { ScanJob } from '../../../src/queue/jobs.ts';
import { startTestApi, type TestApi } from '../../support/api/api.ts';
import { createDatabase } from '../../support/database/database.ts';
import { until } from '../../support/tests/until.ts';
import { type Found, runScan, scanOf, unreachable } from '../../support/world/made-scans.ts';

let api: TestApi;
let domains = 0;
let targetsRead = 0;
/** How often a call looked for a scan to join. */
let joins = 0;
let jobs: ScanJob[] = [];
/** What a worker does with a job; by default it finds `lines`. */
let work: (job: ScanJob) => Promise<unknown>;
let lines: string[] = [];
let waitMs = 10_000;
const finds: Found = async (domain) => scanOf(lines, { domain });
/** A worker that has begun, and finds `lines` once it is told to. */
async function slowly(job: ScanJob): Promise<void> {
  let begun: () => void = () => {};
  const isBegun = new Promise<void>((done) => {
    begun = done;
  });
  const found: Found = async (domain) => {
    begun();
    await new Promise<void>((done) => {
      finish = done;
    });
    return scanOf(lines, { domain });
  };
  slow = runScan(api.database.db, job, found);
  await isBegun;
}
let finish: () => void = () => {};
let slow: Promise<unknown> = Promise.resolve();
const scans: Api['scans'] = {
  get waitMs() {
    return waitMs;
  },
  async enqueueNow(job) {
    jobs.push(job);
    await work(job);
  },
};

beforeAll(async () => {
  const database = await createDatabase();
  const db = database.db.withPlugin({
    transformQuery({ node }) {
      const text = JSON.stringify(node);
      if (text.includes('from aname_targets')) targetsRead++;
      if (text.includes('finished_at is null for update')) joins++;
      return node;
    },
    transformResult: async ({ result }) => result,
  });
  api = await startTestApi({ scans, database, db });
});
afterAll(() => api?.stop());
beforeEach(() => {
  work = (job) => runScan(api.database.db, job, finds);
});
afterEach(() => {
  jobs = [];
  lines = [];
  waitMs = 10_000;
});

async function freshDomain(options?: Parameters<TestApi['makeDomain']>[1]) {
  const name = `s${++domains}.example`;
  const { id } = await api.makeDomain(name, options);
  const path = `/domains/${name}`;
  return { id, name, path, scan: `${path}/records/scan`, scanImport: `${path}/records/scan-import` };
}

const openScans = async (id: number) => {
  const { rows } = await sql`select kind, imports from scans where domain_id = ${id}`.execute(
    api.database.db,
  );
  return rows;
};

describe('POST scan-import', () => {
  it('adds what is found where nothing is, and returns all records of the domain', async () => {
    const { path, scanImport } = await freshDomain();
    const create = [
      { name: 'www', type: 'A', destination: '198.51.100.9' },
      { name: 'api', type: 'CNAME', destination: 'other.example.net' },
    ];
    await api.ask('PUT', `${path}/records/batch`, { body: { create } });
    lines = [
      'www A 198.51.100.1',
      'api A 198.51.100.2',
      '@ 3600 MX 10 mail.example.net',
      '@ TXT v=spf1 -all',
    ];
    const { status, headers, body } = await api.ask('POST', scanImport);
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
    expect([headers['x-change-id'], headers['x-zone-serial']]).toEqual([String(body.change_id), '3']);
    const { body: change } = await api.ask('GET', `${path}/changes/${body.change_id}`);
    expect(change).toMatchObject({ source: 'scan', actor: { kind: 'key', user_id: api.accountIds.owner } });
    const repeat = await api.ask('POST', scanImport);
    expect(repeat.body).toMatchObject({ created: 0, skipped: 3 });
    expect([repeat.body.change_id, repeat.headers['x-change-id']]).toEqual([undefined, undefined]);
  });

  it('adds nothing in a dry run, which uses a recent scan', async () => {
    const { scan, scanImport } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    await api.ask('GET', scan);
    const { status, body } = await api.ask('POST', `${scanImport}?dry_run=true`);
    expect([status, body.created, body.records.length, jobs.length]).toEqual([200, 1, 2, 1]);
    expect((await api.ask('POST', `${scanImport}?dryrun=true`)).status).toBe(400);
  });

  it('imports what a scan of the last 10 minutes found, unless `fresh` is set', async () => {
    const { path, scan, scanImport } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    const previewed = await api.ask('GET', scan);
    lines = ['other A 198.51.100.1'];
    const reused = await api.ask('POST', scanImport);
    expect([reused.body.created, reused.body.started_at, jobs.length]).toEqual([
      1,
      previewed.body.started_at,
      1,
    ]);
    const [change] = (await api.ask('GET', `${path}/changes`)).body;
    expect(change).toMatchObject({ source: 'scan', id: reused.body.change_id });
    const again = await api.ask('POST', scanImport);
    expect([again.body.created, again.body.skipped, jobs.length]).toEqual([0, 1, 1]);
    const tried = await api.ask('POST', `${scanImport}?fresh=true&dry_run=true`);
    expect([tried.body.created, jobs.length]).toEqual([1, 2]);
    const fresh = await api.ask('POST', `${scanImport}?fresh=true`);
    expect([fresh.body.created, jobs.length]).toEqual([1, 3]);
    await sql`update scans set finished_at = finished_at - interval '11 minutes'`.execute(api.database.db);
    await api.ask('POST', scanImport);
    expect(jobs).toHaveLength(4);
  });

  it('reports to a repeated call what it imported from another scan', async () => {
    const { scan, scanImport } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    await api.ask('GET', scan);
    const headers = { 'idempotency-key': 'reused' };
    const first = await api.ask('POST', scanImport, { headers });
    expect([first.body.created, jobs.length]).toEqual([1, 1]);
    await sql`delete from idempotency_keys where key = 'reused'`.execute(api.database.db); // the answer was lost
    const repeat = await api.ask('POST', scanImport, { headers });
    expect([repeat.body.created, repeat.body.change_id, jobs.length]).toEqual([1, first.body.change_id, 1]);
  });

  it('is refused beyond the plan before anything is written', async () => {
    const { path, scanImport } = await freshDomain({ planSlug: 'free' });
    lines = Array.from({ length: 201 }, (_, i) => `n${i} A 198.51.100.1`);
    for (const url of [scanImport, `${scanImport}?dry_run=true`]) {
      const { status, body } = await api.ask('POST', url);
      expect([status, body.code, body.limit]).toEqual([403, 'plan_limit', 200]);
    }
    expect((await api.ask('GET', `${path}/records/?type=A`)).body).toEqual([]);
    const none = await freshDomain({ planSlug: null });
    const refused = await api.ask('POST', none.scanImport);
    expect([refused.status, refused.body.code]).toEqual([402, 'no_active_plan']);
  });

  it('continues after its call has ended, and a second call joins it', async () => {
    const { id, path, scanImport } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    work = slowly;
    waitMs = 50;
    const early = await api.ask('POST', scanImport);
    expect([early.status, early.body]).toMatchObject([
      200,
      { created: 0, complete: false, shortfalls: ['the scan still goes on'] },
    ]);
    expect(early.body).not.toHaveProperty('finished_at');
    waitMs = 10_000;
    const joinsBefore = joins;
    const second = api.ask('POST', scanImport);
    await until(() => joins > joinsBefore);
    expect(await openScans(id)).toHaveLength(1);
    finish();
    expect((await second).body).toMatchObject({ created: 1, complete: true });
    expect((await api.ask('GET', `${path}/records/?type=A`)).body).toHaveLength(1);
  });

  it.each([
    ['if no worker begins in time', async () => {}],
    ['if there is no queue', () => Promise.reject(new Error('the queue cannot be reached'))],
  ])('responds 503 %s, and changes nothing', async (_, doing) => {
    const { id, scan, scanImport } = await freshDomain();
    work = doing;
    waitMs = 50;
    for (const [method, url] of [
      ['POST', scanImport],
      ['GET', scan],
    ] as const) {
      const { status, headers } = await api.ask(method, url);
      expect([status, Number(headers['retry-after']) > 0]).toEqual([503, true]);
    }
    expect(await openScans(id)).toEqual([]);
  });

  it('finds the scan of a failed call with the same Idempotency-Key', async () => {
    const { scanImport } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    const headers = { 'idempotency-key': 'lost' };
    work = async (job) => {
      await runScan(api.database.db, job, finds);
      throw new Error('the queue is lost behind it');
    };
    expect((await api.ask('POST', scanImport, { headers })).status).toBe(503);
    const found = await api.ask('POST', scanImport, { headers });
    expect([found.status, found.body.created, jobs.length]).toEqual([200, 1, 1]);
    const replay = await api.ask('POST', scanImport, { headers });
    expect([replay.text, replay.headers['idempotent-replay']]).toEqual([found.text, 'true']);
  });

  it('reads the targets of all ANAME records in one statement', async () => {
    const { path, scanImport } = await freshDomain();
    for (const name of ['a', 'b', 'c']) {
      const body = { name, type: 'ANAME', destination: `${name}.target.example` };
      expect((await api.ask('POST', `${path}/records/`, { body })).status).toBe(200);
    }
    targetsRead = 0;
    const { body } = await api.ask('POST', scanImport);
    expect(body.records.filter(({ type }: { type: string }) => type === 'ANAME')).toHaveLength(3);
    expect(targetsRead).toBe(1);
  });
});

describe('GET scan', () => {
  it('returns what an import would add and skip, and writes nothing', async () => {
    const { path, scan } = await freshDomain();
    await api.ask('POST', `${path}/records/`, {
      body: { name: 'www', type: 'A', destination: '198.51.100.9' },
    });
    const found: Found = async (domain) =>
      scanOf(['www A 198.51.100.1', '@ 3600 MX 10 mail.example.net'], { domain, wildcards: [domain] });
    work = (job) => runScan(api.database.db, job, found);
    const { status, body } = await api.ask('GET', scan);
    expect([status, body.complete, body.wildcards]).toEqual([200, true, ['@']]);
    expect(body.records).toEqual([
      { name: 'www', type: 'A', destination: '198.51.100.1', ttl: 300, skipped: true },
      { name: '@', type: 'MX', destination: 'mail.example.net', mx_priority: 10, ttl: 3600, skipped: false },
    ]);
    expect(body).not.toHaveProperty('imported');
    expect((await api.ask('GET', `${path}/records/?type=MX`)).body).toEqual([]);
  });

  it('repeats a scan of the last 10 minutes unless it failed', async () => {
    const { scan } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    const failing: Found = async (domain) => unreachable(domain);
    work = (job) => runScan(api.database.db, job, failing);
    expect((await api.ask('GET', scan)).body).toMatchObject({
      complete: false,
      shortfalls: ['no server answers'],
      records: [],
    });
    work = (job) => runScan(api.database.db, job, finds);
    const first = await api.ask('GET', scan);
    expect((await api.ask('GET', scan)).text).toBe(first.text);
    expect(jobs).toHaveLength(2);
  });

  it('returns the progress of a running import immediately', async () => {
    const { id, scan, scanImport } = await freshDomain();
    lines = ['www A 198.51.100.1'];
    work = slowly;
    const importing = api.ask('POST', scanImport);
    const begun = sql`select from scans where domain_id = ${id} and run is not null`;
    await until(async () => (await begun.execute(api.database.db)).rows.length > 0);
    const { body } = await api.ask('GET', scan);
    expect(body).toMatchObject({ complete: false, shortfalls: ['the scan still goes on'], records: [] });
    expect(jobs).toHaveLength(1);
    finish();
    expect((await importing).body).toMatchObject({ created: 1, complete: true });
    expect((await api.ask('GET', scan)).body).toMatchObject({ complete: true, imported: { created: 1 } });
  });

  it('returns the progress of a scan that takes longer than the call waits', async () => {
    const { id, scan } = await freshDomain();
    work = slowly;
    waitMs = 50;
    await api.ask('GET', scan);
    const progress = { names: 5, of: 10, queries: 7, records: 2 };
    await sql`update scans set progress = ${JSON.stringify(progress)} where domain_id = ${id}`.execute(
      api.database.db,
    );
    expect((await api.ask('GET', scan)).body).toMatchObject({
      complete: false,
      progress,
      names: 5,
      queries: 7,
    });
    finish();
    await slow;
  });
});

describe('POST domains', () => {
  it('schedules a scan of a managed domain, unless `scan` is false', async () => {
    const create = async (body: object) => (await api.ask('POST', '/domains/', { body })).body.id as number;
    const [scanned, plain, external] = [
      await create({ name: 'scanned.example' }),
      await create({ name: 'plain.example', scan: false }),
      await create({ name: 'external.example', dns_mode: 'external' }),
    ];
    expect(await openScans(scanned)).toEqual([{ kind: 'background', imports: true }]);
    expect([await openScans(plain), await openScans(external)]).toEqual([[], []]);
    expect(jobs).toEqual([]); // the workers find it
  });

  it('reports in the preview that its import exceeds the plan', async () => {
    const free = await freshDomain({ planSlug: 'free' });
    await sql`
      insert into scans (domain_id, account_id, kind, imports, actor, due_at)
      select id, account_id, 'background', true, '{"kind": "system"}', now() from domains where id = ${free.id}`.execute(
      api.database.db,
    );
    lines = Array.from({ length: 201 }, (_, i) => `n${i} A 198.51.100.1`);
    const { body } = await api.ask('GET', free.scan);
    expect([body.records.length, body.imported]).toEqual([
      201,
      { created: 0, skipped: 0, failed: [], error: 'the plan allows 200 records, this would make 201' },
    ]);
  });
});
