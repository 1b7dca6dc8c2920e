import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkDomain } from '../../../src/cli/domain/check-domain.ts';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { parseName } from '../../../src/dns/name.ts';
import { migrateQueue } from '../../../src/queue/connection.ts';
import { type JobWorker, runJobWorker } from '../../../src/queue/job-worker.ts';
import { CHECK_DELEGATION } from '../../../src/queue/jobs.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { createDatabase, type TestDatabase } from '../../support/database/database.ts';
import { emptyTables } from '../../support/database/domains.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
/** By domain, what its parent says. */
let said: Record<string, Said> = {};
let database: TestDatabase;
let worker: JobWorker;

beforeAll(async () => {
  database = await createDatabase();
  const place = { databaseUrl: database.url, redisUrl: undefined };
  await migrateQueue(place);
  worker = runJobWorker(
    place,
    CHECK_DELEGATION,
    async (job) => {
      await makeCheck(database.db, job, (domain) => evidenceOf(domain, said[domain] ?? 'timeout'));
    },
    { concurrency: 4, onTrouble: () => {}, onFailed: () => {} },
  );
});
afterAll(async () => {
  await worker?.stop(1000);
  await database?.drop();
});
beforeEach(async () => {
  said = {};
  await emptyTables(database.db, 'accounts', 'domains', 'zones', 'changes', 'api_keys');
  await createAccount(database.db, { email: 'ann@shop.example' });
});

const run = (args: string[]) => runCommands(addDomainCommands, ['domain', ...args], database.url);
const create = (...args: string[]) => run(['create', '--account', 'ann@shop.example', ...args]);
const says = (name: string, what: Said) => {
  said[parseName(`${name}.`)] = what;
};

describe('domain check', () => {
  it('has workers check domains and prints the outcomes', async () => {
    await create('good.com', 'bad.com');
    says('good.com', OURS);
    says('bad.com', ['ns1.example.net.']);
    const { code, stdout, stderr } = await run(['check', 'Good.COM.', 'bad.com']);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^checked good\.com match status pending -> active check \d+$/),
      expect.stringMatching(/^checked bad\.com partial status pending check \d+$/),
      expect.stringMatching(/^ {2}NS_MISSING: .*ns2\.example\.net/),
      'domains 2 checked 2 refused 0',
      '',
    ]);
    expect(await run(['check', 'good.com'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^checked good\.com match status active check \d+\n/),
    });
  });

  it('has no limit of one an hour for operators', async () => {
    await create('good.com');
    says('good.com', OURS);
    for (const _ of [1, 2]) await run(['check', 'good.com']);
    const { rows } = await sql`
      select r.kind, c.last_manual_at as "hour" from check_runs r join domain_checks c using (domain_id)`.execute(
      database.db,
    );
    expect(rows).toEqual([
      { kind: 'operator', hour: null },
      { kind: 'operator', hour: null },
    ]);
  });

  it('as JSON has the run', async () => {
    await create('bad.com');
    says('bad.com', ['ns1.example.net.']);
    const { code, stdout } = await run(['check', 'bad.com', 'silent.com', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      domains: [
        {
          domain: 'bad.com',
          outcome: 'checked',
          check_id: expect.any(Number),
          verdict: 'partial',
          status_before: 'pending',
          status_after: 'pending',
          findings: [{ code: 'NS_MISSING', message: expect.any(String) }],
          current_nameservers: ['ns1.example.net'],
          vantages: null,
          next_check_at: expect.any(String),
        },
        { domain: 'silent.com', outcome: 'refused', code: 'absent', message: 'no such domain' },
      ],
      summary: { domains: 2, done: 1, refused: 1, complete: true },
    });
  });

  it('concludes nothing from silence, and says so', async () => {
    await create('silent.com');
    const { code, stdout } = await run(['check', 'silent.com']);
    expect(code).toBe(1);
    expect(stdout).toMatch(/^checked silent\.com unknown status pending check \d+\n {2}PARENT_UNREACHABLE: /);
  });

  it('refuses domains that are not checked', async () => {
    await create('off.com', 'banned.com');
    await create('--mode', 'external', 'other.com');
    await run(['disable', 'off.com']);
    await run(['ban', 'banned.com']);
    const { code, stderr } = await run(['check', 'off.com', 'banned.com', 'other.com', 'absent.com']);
    expect([code, stderr.trimEnd().split('\n')]).toEqual([
      1,
      [
        'off.com: the domain is disabled: it is not checked',
        'banned.com: the domain is banned: it is not checked',
        'other.com: the domain is in external mode: it is not checked',
        'absent.com: no such domain',
      ],
    ]);
  });

  it('says when no worker makes the check', async () => {
    await create('good.com');
    const name = parseName('good.com.');
    const { signal } = new AbortController();
    const way = { enqueue: async () => {}, signal, waitMs: 100 };
    expect(await checkDomain(database.db, { name }, way)).toMatchObject({
      kind: 'refused',
      code: 'no_answer',
      message: expect.stringContaining('workers'),
    });
    const stopped = { ...way, waitMs: 60_000, signal: AbortSignal.abort() };
    expect(await checkDomain(database.db, { name }, stopped)).toMatchObject({
      kind: 'refused',
      message: expect.stringContaining('interrupted'),
    });
  });

  it('without a queue is a failure', async () => {
    await create('good.com');
    const redisUrl = 'redis://127.0.0.1:1';
    const args = ['domain', 'check', 'good.com'];
    const { code, stderr } = await runCommands(addDomainCommands, args, database.url, { redisUrl });
    expect([code, stderr]).toEqual([2, expect.stringMatching(/^zonefleet: the queue cannot be reached: /)]);
  });
});

describe('domain approve', () => {
  it('lets what the parent shows prove the domain, and answers it whole', async () => {
    await create('dangling.com');
    await sql`update domains set open = false, by_operator = false, served = 'apex'`.execute(database.db);
    const served = async () =>
      JSON.parse((await run(['show', 'dangling.com', '--json'])).stdout).domains[0].served as string;
    expect(await served()).toBe('apex');
    expect(await run(['approve', 'dangling.com'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^approved dangling\.com status pending plan free change \d+\n/),
    });
    expect(await served()).toBe('full');
    expect(await run(['approve', 'dangling.com'])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('(no change)'),
    });
    expect(await run(['approve', 'absent.com'])).toMatchObject({
      code: 1,
      stderr: 'absent.com: no such domain\n',
    });
  });
});
