import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkDomain } from '../../../src/cli/domain/check-domain.ts';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { parseName } from '../../../src/dns/name.ts';
import { migrateQueue } from '../../../src/queue/connection.ts';
import { type JobWorker, runJobWorker } from '../../../src/queue/job-worker.ts';
import { CHECK_DELEGATION } from '../../../src/queue/jobs.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';
import { evidenceOf, makeCheck, type Said } from '../../support/world/made-checks.ts';

const OURS = ['ns1.example.net.', 'ns2.example.net.'];
/** By domain, what its parent says. */
const said: Record<string, Said> = {};
const database = keptDatabase();
let worker: JobWorker;

beforeAll(async () => {
  await createAccount(database.db, { email: 'ann@shop.example' });
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
});
const run = (args: string[]) => runCommands(addDomainCommands, ['domain', ...args], database.url);
const create = (...args: string[]) => run(['create', '--no-scan', '--account', 'ann@shop.example', ...args]);
const says = (name: string, what: Said) => {
  said[parseName(`${name}.`)] = what;
};

describe('domain check', () => {
  it('has workers check domains and prints the outcomes', async () => {
    await create('good.com', 'bad.com', 'silent.com');
    says('good.com', OURS);
    says('bad.com', ['ns1.example.net.']);
    const { code, stdout, stderr } = await run(['check', 'Good.COM.', 'bad.com', 'silent.com']);
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/^checked good\.com match status pending -> active check \d+$/),
      expect.stringMatching(/^checked bad\.com partial status pending check \d+$/),
      expect.stringMatching(/^ {2}NS_MISSING: .*ns2\.example\.net/),
      expect.stringMatching(/^checked silent\.com unknown status pending check \d+$/),
      expect.stringMatching(/^ {2}PARENT_UNREACHABLE: /),
      'domains 3 checked 3 refused 0',
      '',
    ]);
    // Operators have no limit of one check per hour.
    expect(await run(['check', 'good.com'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^checked good\.com match status active check \d+\n/),
    });
    const { rows } = await sql`
      select r.kind, c.last_manual_at as "hour" from check_runs r join domain_checks c using (domain_id)
      join domains d on d.id = domain_id where d.name = 'good.com.'`.execute(database.db);
    expect(rows).toEqual(Array(2).fill({ kind: 'operator', hour: null }));
  });

  it('prints the run as JSON', async () => {
    await create('wrong.com');
    says('wrong.com', ['ns1.example.net.']);
    const { code, stdout } = await run(['check', 'wrong.com', 'absent.com', '--json']);
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      domains: [
        {
          domain: 'wrong.com',
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
        { domain: 'absent.com', outcome: 'refused', code: 'absent', message: 'no such domain' },
      ],
      summary: { domains: 2, done: 1, refused: 1, complete: true },
    });
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

  it('is refused if no worker makes the check, or an interrupt comes', async () => {
    await create('idle.com');
    const name = parseName('idle.com.');
    const way = { enqueue: async () => {}, signal: new AbortController().signal, waitMs: 100 };
    for (const [more, message] of [
      [{}, 'workers'],
      [{ waitMs: 60_000, signal: AbortSignal.abort() }, 'interrupted'],
    ] as const)
      expect(await checkDomain(database.db, { name }, { ...way, ...more })).toMatchObject({
        kind: 'refused',
        code: 'no_answer',
        message: expect.stringContaining(message),
      });
  });
});

it('domain approve lets what the parent shows prove the domain, which is then served whole', async () => {
  await create('dangling.com');
  await sql`
    update domains set open = false, by_operator = false, served = 'apex' where name = 'dangling.com.'`.execute(
    database.db,
  );
  const served = async () =>
    JSON.parse((await run(['show', 'dangling.com', '--json'])).stdout).domains[0].served as string;
  expect(await served()).toBe('apex');
  expect(await run(['approve', 'dangling.com'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^approved dangling\.com status pending plan free change \d+\n/),
  });
  expect(await served()).toBe('full');
  expect((await run(['approve', 'dangling.com'])).stdout).toContain('(no change)');
  expect(await run(['approve', 'absent.com'])).toMatchObject({
    code: 1,
    stderr: 'absent.com: no such domain\n',
  });
});
