// Commands on domains that need only the database.

import { readFileSync } from 'node:fs';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addAccountCommands } from '../../src/cli/account/account.ts';
import { checkDomain } from '../../src/cli/domain/check-domain.ts';
import { addDomainCommands } from '../../src/cli/domain/domain.ts';
import { addVerifyCommand } from '../../src/cli/domain/verify.ts';
import { parseName } from '../../src/dns/name.ts';
import { QUEUES } from '../../src/features/every-feature.ts';
import { migrateQueue } from '../../src/jobs/connection.ts';
import { type JobWorker, runJobWorker } from '../../src/jobs/job-worker.ts';
import { CHECK_DELEGATION, VERIFY_TXT } from '../../src/jobs/jobs.ts';
import { createAccount } from '../../src/store/accounts/accounts.ts';
import { changeStatus } from '../../src/store/change/change-status.ts';
import { acceptInvite, findInvite } from '../../src/store/sharing/accept-invite.ts';
import { listMembers } from '../../src/store/sharing/members.ts';
import { runCommands } from '../support/cli/run-commands.ts';
import { BY, newAccount, newDomain } from '../support/database/domains.ts';
import { saveMembership } from '../support/database/memberships.ts';
import { keptDatabase, sharedDatabase } from '../support/tests/shared-database.ts';
import { evidenceOf, makeCheck, type Said } from '../support/world/made-checks.ts';
import { makeVerification, type SaidWorld } from '../support/world/made-verifications.ts';
import { makeZoneFolder, type ZoneFolder } from '../support/zone/zone-folder.ts';

describe('checks of domains', () => {
  const database = keptDatabase();
  const OURS = ['ns1.example.net.', 'ns2.example.net.'];
  /** The parent's delegation of each domain. */
  const said: Record<string, Said> = {};
  let worker: JobWorker;

  beforeAll(async () => {
    await createAccount(database.db, { email: 'ann@shop.example' });
    const place = { databaseUrl: database.url, redisUrl: undefined };
    await migrateQueue(place, QUEUES);
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
  const create = (...args: string[]) =>
    run(['create', '--no-scan', '--account', 'ann@shop.example', ...args]);
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

    it('is refused if no worker runs the check, or after an interrupt', async () => {
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

  it('domain approve accepts the current delegation as proof of the domain, which is then fully served', async () => {
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
});

describe('domain create', () => {
  const database = sharedDatabase();
  let folder: ZoneFolder;
  beforeAll(() => {
    folder = makeZoneFolder();
  });
  afterAll(() => folder.remove());
  beforeEach(async () => {
    for (const name of ['ann', 'bob']) await createAccount(database.db, { email: `${name}@shop.example` });
  });
  const create = (...args: string[]) =>
    runCommands(addDomainCommands, ['domain', 'create', '--no-scan', ...args], database.url);
  const domains = async () => {
    const { rows } = await sql<{ name: string; email: string; plan: string | null; served: string }>`
      select d.name, a.email, p.slug as plan, d.served from domains d join accounts a on a.id = d.account_id
      left join plans p on p.id = d.plan_id order by d.name, a.email`.execute(database.db);
    return rows.map(({ name, email, plan, served }) => `${name} ${email} ${plan} ${served}`);
  };

  it('--file takes the owner and the plan of each domain, and reports the number of a wrong line', async () => {
    const file = folder.write(
      'list',
      `# name owner plan
ann.com ann@shop.example
bob.com Bob@shop.example pro # moved
bob.de bob@shop.example none
wrong.com nobody@shop.example
plan.com ann@shop.example gold
many.com ann@shop.example pro more
-.com ann@shop.example
default.com
`,
    );
    const { code, stdout, stderr } = await create('--approve', '--file', file);
    expect([code, stderr.split('\n')]).toEqual([
      1,
      [
        `${file}:5: wrong.com: account: no account "nobody@shop.example"`,
        `${file}:6: plan.com: plan: there is no plan "gold"`,
        `${file}:7: many.com: at most 2 words may follow the name`,
        `${file}:8: -.com: "-" is not a label of a domain name`,
        `${file}:9: default.com: account: is required`,
        '',
      ],
    ]);
    expect(stdout).toMatch(/^approved ann\.com status pending plan free change \d+\n/);
    expect(stdout).toMatch(/\ndomains 8 approved 3 refused 5\n$/);
    const created = [
      'ann.com. ann@shop.example free full',
      'bob.com. bob@shop.example pro full',
      'bob.de. bob@shop.example null full',
    ];
    expect(await domains()).toEqual(created);
    const { rows } = await sql`
      select actor_kind as kind, target_name as name from audit_log where action = 'domain.approve' order by target_name`.execute(
      database.db,
    );
    expect(rows).toEqual(['ann.com', 'bob.com', 'bob.de'].map((name) => ({ kind: 'cli', name })));
    const again = await create('--approve', '--file', file, '--account', 'ann@shop.example');
    expect(again.stdout).toMatch(/^approved ann\.com status pending plan free \(no change\)\n/);
    expect(await domains()).toEqual([...created, 'default.com. ann@shop.example free full'].sort());
  });

  it('--approve reports domains that are not fully served, and exits with 1', async () => {
    await create('--account', 'bob@shop.example', 'shop.com');
    expect(await create('--approve', '--account', 'ann@shop.example', 'in.shop.com')).toMatchObject({
      code: 1,
      stdout: expect.stringMatching(
        /^approved in\.shop\.com .*\n(?: {2}.*\n)* {2}APEX_ONLY: At most the SOA and NS records .*\n/,
      ),
    });
  });

  it.each([
    [['shop.com'], 'the owner is missing'],
    [['--approve', '--mode', 'external', '--account', 'ann@shop.example', 'shop.com'], '--approve: '],
  ])('%j is a usage error', async (args, message) => {
    const { code, stderr } = await create(...args);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
  });
});

describe('domain suspend and resume', () => {
  const database = keptDatabase();
  const run = (...args: string[]) => runCommands(addDomainCommands, ['domain', ...args], database.url);
  beforeAll(async () => {
    const accountId = await newAccount(database.db, 'paying@shop.example');
    await newDomain(database.db, accountId, 'paid.com.', { exempt: true });
  });

  it('print whether the suspension changed, and what is served', async () => {
    const text = (outcome: string, words: string, edges: string) =>
      `${outcome} paid.com status pending${words}\n  DNS queries are still answered with all records${edges}\ndomains 1 ${outcome} 1 refused 0\n`;
    const [refuse, plan] = ['; edges reject its requests', 'plan pro'];
    const printed = async (verb: string) => (await run(verb, 'paid.com')).stdout;
    expect(await printed('suspend')).toBe(text('suspended', ` suspended ${plan} (changed)`, refuse));
    expect(await printed('suspend')).toBe(text('suspended', ` suspended ${plan} (no change)`, refuse));
    expect(await printed('resume')).toBe(text('resumed', ` ${plan} (changed)`, ''));
    const { stdout } = await run('resume', 'paid.com', '--json');
    expect(JSON.parse(stdout).domains).toMatchObject([
      {
        domain: 'paid.com',
        outcome: 'resumed',
        changed: false,
        suspended: false,
        suspended_by: [],
        served: 'full',
      },
    ]);
  });

  it('print that a debt still suspends the domain', async () => {
    await run('suspend', 'paid.com');
    await sql`update domains set debt_suspended_at = now() where name = 'paid.com.'`.execute(database.db);
    const { stdout } = await run('resume', 'paid.com');
    expect(stdout).toContain(' suspended plan pro (changed)\n');
    expect(stdout).toContain('; edges reject its requests because of a debt\n');
  });
});

describe('domain export', () => {
  const database = sharedDatabase();
  const run = (...args: string[]) => runCommands(addDomainCommands, ['domain', ...args], database.url);
  let folder: ZoneFolder;
  beforeAll(() => {
    folder = makeZoneFolder();
  });
  afterAll(() => folder.remove());

  it.each([
    ['zone', 'www                      300 IN A 192.0.2.1', []],
    ['octodns', '"www":', ['left out, because octoDNS does not know the type: @ HINFO "a" "b"']],
    ['dnscontrol', 'A("www", "192.0.2.1", TTL(300)),', [/dnscontrol does not know the type: @ HINFO/]],
  ])('writes %s, and lists what the format cannot express', async (format, line, complaints) => {
    await newDomain(database.db, await newAccount(database.db, 'a@example.org'), 'shop.example.');
    const file = folder.write('shop.zone', 'www A 192.0.2.1\n@ HINFO "a" "b"\n');
    await run('import', 'shop.example', file);
    const shown = await run('export', 'shop.example', '--format', format);
    expect([shown.code, shown.stdout.split('\n').map((each) => each.trim())]).toEqual([
      0,
      expect.arrayContaining([line]),
    ]);
    expect(shown.stderr.split('\n').slice(0, -1)).toEqual(
      complaints.map((each) => (typeof each === 'string' ? each : expect.stringMatching(each))),
    );
    const output = folder.write('out', '');
    const left = complaints.length;
    const written = await run('export', 'shop.example', '--format', format, '--output', output);
    expect(written.stdout).toBe(`exported shop.example records ${2 - left} left out ${left}\n`);
    expect(readFileSync(output, 'utf8')).toBe(shown.stdout);
    const json = JSON.parse((await run('export', 'shop.example', '--format', format, '--json')).stdout);
    expect(json).toMatchObject({ domain: 'shop.example', format, records: 2 - left, text: shown.stdout });
    expect((await run('export', 'absent.example', '--format', format)).code).toBe(1);
  });
});

describe('domain import', () => {
  const database = sharedDatabase();
  let folder: ZoneFolder;
  beforeAll(() => {
    folder = makeZoneFolder();
  });
  afterAll(() => folder.remove());
  beforeEach(async () => {
    await newDomain(database.db, await newAccount(database.db, 'a@example.org'), 'shop.example.');
  });
  const run = (...args: string[]) =>
    runCommands(addDomainCommands, ['domain', 'import', 'shop.example', ...args], database.url);
  const stored = () =>
    database.column<string>`select name || ' ' || type || ' ' || destination from records where not managed order by 1`;

  it('saves valid records, and lists all others with their lines', async () => {
    const file = folder.write(
      'shop.zone',
      'www A 192.0.2.1\nbad A 1.2\n@ SOA a b 1 2 3 4 5\n@ MX 10 mx.mail.com\n',
    );
    const dry = await run(file, '--dry-run');
    expect([dry.code, dry.stdout]).toEqual([
      1,
      'would import into shop.example: created 2 overwritten 0 removed 0 errors 1 skipped 1 failed 0 warnings 2\n',
    ]);
    expect(await stored()).toEqual([]);
    const made = await run(file);
    expect([made.code, made.stdout.slice(0, 13)]).toEqual([1, 'imported into']);
    expect(made.stderr.split('\n').map((line) => line.slice(0, 42))).toEqual([
      'line 2, column 7: "1.2" is not an IPv4 add',
      'line 3: @ SOA: skipped: the service create',
      'line 4: @ MX: warning: "mx.mail.com" has n',
      '@ MX: warning: mx.mail.com.shop.example. h',
      '',
    ]);
    expect(await stored()).toEqual([
      'shop.example. MX mx.mail.com.shop.example',
      'www.shop.example. A 192.0.2.1',
    ]);
  });

  it('reads names without a final dot as full names if asked', async () => {
    const file = folder.write('dots.zone', 'www CNAME cdn.host.net\n');
    expect((await run(file, '--dots', 'add', '--json')).code).toBe(0);
    expect(await stored()).toEqual(['www.shop.example. CNAME cdn.host.net']);
  });

  it('reads each zone file of a directory into the domain of its name', async () => {
    await newDomain(database.db, await newAccount(database.db, 'b@example.org'), 'garden.example.');
    const many = makeZoneFolder();
    many.write('shop.example.zone', 'www A 192.0.2.1\n');
    many.write('garden.example.zone', 'www A 192.0.2.2\nbad A 1.2\n');
    many.write('absent.example.zone', 'www A 192.0.2.3\n');
    const directory = (...args: string[]) =>
      runCommands(addDomainCommands, ['domain', 'import', '--directory', many.path, ...args], database.url);
    const { code, stdout, stderr } = await directory();
    expect([code, stderr]).toEqual([1, `${many.path}/absent.example.zone: absent.example: no such domain\n`]);
    expect(stdout.split('\n')).toEqual([
      'imported garden.example created 1 overwritten 0 removed 0 errors 1 skipped 0 failed 0 warnings 0',
      expect.stringMatching(/^ {2}line 2, column 7: "1\.2"/),
      'imported shop.example created 1 overwritten 0 removed 0 errors 0 skipped 0 failed 0 warnings 0',
      'domains 3 imported 2 refused 1',
      '',
    ]);
    expect(await stored()).toEqual(['www.garden.example. A 192.0.2.2', 'www.shop.example. A 192.0.2.1']);
    expect(await directory('--dry-run')).toMatchObject({ stdout: expect.stringMatching(/^would import /) });
    expect(await directory('shop.example')).toMatchObject({ code: 2 });
    many.remove();
  });
});

describe('domains that change their owner', () => {
  const database = sharedDatabase();

  beforeEach(async () => {
    for (const name of ['ann', 'bob']) await createAccount(database.db, { email: `${name}@shop.example` });
    await run('create', '--account', 'ann@shop.example', 'shop.com');
  });

  const run = (...args: string[]) => runCommands(addDomainCommands, ['domain', ...args], database.url);
  const move = (...args: string[]) => run('move', '--to', 'bob@shop.example', ...args);
  const owners = async () => {
    const { rows } = await sql<{ name: string; email: string }>`
    select d.name, a.email from domains d join accounts a on a.id = d.account_id
    where d.deleted_at is null order by d.id`.execute(database.db);
    return rows.map(({ name, email }) => `${name} ${email}`);
  };

  describe('domain move', () => {
    it('prints the new owner of each domain, and reports a repeat as no change', async () => {
      await run('create', '--account', 'ann@shop.example', 'other.com');
      expect((await move('--dry-run', 'shop.com')).stdout).toMatch(
        /^would move shop\.com to bob@shop\.example status pending \(dry run\)\n/,
      );
      expect(await owners()).toEqual(['shop.com. ann@shop.example', 'other.com. ann@shop.example']);
      const { code, stdout, stderr } = await move('Shop.com.', 'other.com', 'nobodys.com');
      expect([code, stderr]).toEqual([1, 'nobodys.com: no such domain\n']);
      expect(stdout).toMatch(
        /^moved shop\.com to bob@shop\.example status pending change \d+\nmoved other\.com to bob@shop\.example status pending change \d+\ndomains 3 moved 2 refused 1\n$/,
      );
      expect(await owners()).toEqual(['shop.com. bob@shop.example', 'other.com. bob@shop.example']);
      for (const again of [await move('shop.com'), await move('--account', 'ann@shop.example', 'shop.com')])
        expect(again).toMatchObject({
          code: 0,
          stdout: expect.stringMatching(
            /^moved shop\.com to bob@shop\.example status pending \(no change\)\n/,
          ),
        });
    });

    it('asks for --account if several accounts have the name, and never gives an account two domains of a name', async () => {
      await createAccount(database.db, { email: 'carl@shop.example' });
      await run('create', '--account', 'carl@shop.example', 'shop.com');
      const unclear = await move('shop.com');
      expect(unclear.code).toBe(1);
      expect(unclear.stderr).toMatch(/^shop\.com: 2 accounts have this domain: choose one with --account\n/);
      expect((await move('--account', 'carl@shop.example', 'shop.com')).code).toBe(0);
      const second = await move('--account', 'ann@shop.example', 'shop.com');
      expect([second.code, second.stderr]).toEqual([
        1,
        expect.stringMatching(
          /^shop\.com: bob@shop\.example already has a domain shop\.com \(id \d+, pending\)/,
        ),
      ]);
      expect(await owners()).toEqual(['shop.com. ann@shop.example', 'shop.com. bob@shop.example']);
    });

    it('lists the domains that must move along, and moves them with --together', async () => {
      await run('create', '--account', 'ann@shop.example', 'www.shop.com');
      expect(await move('shop.com')).toMatchObject({
        code: 1,
        stderr: expect.stringMatching(
          /^shop\.com: other domains .* \(--together moves them too\)\n {2}www\.shop\.com\n$/,
        ),
      });
      expect(await move('--together', 'shop.com')).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(
          /^moved shop\.com .*\n {2}with it www\.shop\.com change \d+\ndomains 1 moved 1/,
        ),
      });
      expect(await owners()).toEqual(['shop.com. bob@shop.example', 'www.shop.com. bob@shop.example']);
    });

    it('lists the members that stay, and reports if the new owner exceeds its plan', async () => {
      const eve = await newAccount(database.db, 'eve@shop.example');
      const { rows } = await sql<{ id: number }>`select id from domains`.execute(database.db);
      await saveMembership(database.db, rows[0]?.id as number, eve, 'viewer');
      await sql`update plans set max_domains = 0 where slug = 'free'`.execute(database.db);
      const { stdout } = await move('shop.com');
      await sql`update plans set max_domains = 100 where slug = 'free'`.execute(database.db);
      expect(stdout).toContain('\n  shop.com is still shared with one account\n');
      expect(stdout).toContain('\n  bob@shop.example now has more domains (1) than its plan allows (0)\n');
      await run('move', '--to', 'ann@shop.example', '--without-members', 'shop.com');
      expect((await sql`select from memberships`.execute(database.db)).rows).toEqual([]);
    });

    it('prints JSON, and records the operator in the log of the domain', async () => {
      const { domains, ...rest } = JSON.parse((await move('--json', 'shop.com')).stdout);
      const { rows } = await sql`
      select source, actor_kind, actor_name <> '' as named, status_from, status_to from domain_changes
      where operation = 'move' order by id`.execute(database.db);
      const by = { source: 'cli', actor_kind: 'cli', named: true };
      expect(rows).toEqual([
        { ...by, status_from: 'pending', status_to: null },
        { ...by, status_from: null, status_to: 'pending' },
      ]);
      expect(rest).toEqual({ summary: { domains: 1, done: 1, refused: 0, complete: true } });
      expect(domains).toEqual([
        {
          domain: 'shop.com',
          outcome: 'moved',
          id: expect.any(Number),
          account: { id: expect.any(Number), email: 'bob@shop.example' },
          status: 'pending',
          served: 'full',
          serial: expect.any(Number),
          members: 0,
          change_id: expect.any(Number),
        },
      ]);
    });

    it.each([
      [['shop.com'], 2, '--to'],
      [['shop.com', '--to', 'nobody@x.example'], 1, 'nobody@x.example: no such account'],
      [
        ['shop.com', '--to', 'bob@shop.example', '--account', 'nobody@x.example'],
        1,
        'nobody@x.example: no such account',
      ],
    ])('rejects %s', async (args, code, message) => {
      expect(await run('move', ...args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
      expect(await owners()).toEqual(['shop.com. ann@shop.example']);
    });
  });
});

describe('shared domains', () => {
  const database = keptDatabase();
  let domainId: number;
  const ids: Record<string, number> = {};
  beforeAll(async () => {
    const { db } = database;
    for (const name of ['ann', 'bob', 'cy', 'reseller'])
      ids[name] = await newAccount(db, `${name}@shop.example`);
    domainId = (await newDomain(db, ids.ann as number, 'shop.test.')).id;
  });

  const run = (...args: string[]) => runCommands(addDomainCommands, ['domain', ...args], database.url);
  const runAccount = (...args: string[]) =>
    runCommands(addAccountCommands, ['account', ...args], database.url);
  const roles = async () =>
    Object.fromEntries((await listMembers(database.db, domainId)).map(({ email, role }) => [email, role]));

  describe('domain share', () => {
    it('grants a role immediately, also a lower one, and unshare removes it', async () => {
      const shared = await run('share', 'Shop.test', 'BOB@shop.example', '--role', 'admin');
      expect([shared.code, shared.stdout]).toEqual([
        0,
        expect.stringMatching(/^shared shop\.test with bob@shop\.example as admin\n/),
      ]);
      expect(await roles()).toEqual({ 'ann@shop.example': 'owner', 'bob@shop.example': 'admin' });
      const lowered = await run('share', 'shop.test', String(ids.bob), '--role', 'viewer', '--json');
      expect(JSON.parse(lowered.stdout).domains).toEqual([
        {
          domain: 'shop.test',
          outcome: 'shared',
          id: domainId,
          member: { id: ids.bob, email: 'bob@shop.example' },
          role: 'viewer',
        },
      ]);
      expect((await run('unshare', 'shop.test', 'bob@shop.example')).stdout).toMatch(
        /^unshared shop\.test with bob@shop\.example\n/,
      );
      expect(await roles()).toEqual({ 'ann@shop.example': 'owner' });
    });

    it.each([
      [['share', 'shop.test', 'nobody@shop.example', '--role', 'viewer'], 1, 'no account "'],
      [['share', 'none.test', 'bob@shop.example', '--role', 'viewer'], 1, 'no such domain'],
      [['share', 'shop.test', 'ann@shop.example', '--role', 'viewer'], 1, 'the owner cannot be changed'],
      [['share', 'shop.test', 'bob@shop.example', '--role', 'owner'], 2, "'owner' is invalid"],
      [['share', 'shop.test', 'bob@shop.example'], 2, "'--role <role>' not specified"],
      [['unshare', 'shop.test', 'ann@shop.example'], 1, 'the owner cannot be changed'],
      [['unshare', 'shop.test', 'cy@shop.example'], 1, 'no such member'],
      [['invite', 'shop.test', 'nobody', '--role', 'viewer'], 2, '"nobody" is not an email address'],
      [['invite', 'none.test', 'cy@shop.example', '--role', 'viewer'], 1, 'no such domain'],
      [['members', 'none.test'], 1, 'no such domain'],
      [['members', 'a b'], 2, 'a b'],
    ] as const)('%j is refused', async (args, code, message) => {
      const ended = await run(...args);
      expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
      expect(await roles()).toEqual({ 'ann@shop.example': 'owner' });
    });

    it('asks for --account if two accounts have the name', async () => {
      const { id } = await newDomain(database.db, ids.cy as number, 'shop.test.', { transfer: true });
      const asked = await run('share', 'shop.test', 'bob@shop.example', '--role', 'viewer');
      expect([asked.code, asked.stderr]).toEqual([1, expect.stringContaining('--account')]);
      expect((await run('members', 'shop.test')).code).toBe(1);
      const args = ['shop.test', 'bob@shop.example', '--account', 'cy@shop.example'];
      expect((await run('share', ...args, '--role', 'viewer')).code).toBe(0);
      expect(await listMembers(database.db, id)).toHaveLength(2);
      expect(await roles()).toEqual({ 'ann@shop.example': 'owner' });
    });
  });

  it('domain invite prints only a link on stdout, which also allows registration', async () => {
    const args = ['shop.test', 'Dan@shop.example', '--role', 'editor', '--account', 'ann@shop.example'];
    const { code, stdout, stderr } = await run('invite', ...args);
    const [, token = ''] =
      /^https:\/\/dns\.zonefleet\.test\/console\/#invite=(inv_\w{43})\n$/.exec(stdout) ?? [];
    expect([code, stderr]).toEqual([
      0,
      'for Dan@shop.example, as editor: the link works once and expires after 7 days\n',
    ]);
    expect(await findInvite(database.db, token)).toMatchObject({ role: 'editor', provesEmail: true });
    const members = await run('members', 'shop.test', '--account', 'ann@shop.example');
    expect(members.stdout).toMatch(
      /ACCOUNT {2}EMAIL .*\n.*ann@shop\.example .* owner .*\n- .*Dan@shop\.example .* editor {2}invited until /,
    );
    const id = await newAccount(database.db, 'dan@shop.example');
    const account = { id, email: 'dan@shop.example', isEmailConfirmed: true };
    expect((await acceptInvite(database.db, token, account)).kind).toBe('accepted');
    const json = await run('members', 'shop.test', '--account', String(ids.ann), '--json');
    expect(JSON.parse(json.stdout)).toEqual({
      id: domainId,
      members: [
        expect.objectContaining({ id: ids.ann, role: 'owner', provider: false }),
        expect.objectContaining({ id, role: 'editor', email: 'dan@shop.example' }),
      ],
      invites: [],
    });
  });

  it('account reseller and account provider make the reseller an admin of its client’s domains', async () => {
    expect((await runAccount('reseller', 'reseller@shop.example')).code).toBe(0);
    const provided = await runAccount('provider', 'ann@shop.example', '--provider', 'reseller@shop.example');
    expect(provided.code).toBe(0);
    const { stdout } = await run('members', 'shop.test', '--account', 'ann@shop.example');
    expect(stdout).toMatch(/reseller@shop\.example +- +admin \(reseller\)/);
    const args = ['shop.test', 'reseller@shop.example', '--account', 'ann@shop.example'];
    expect((await run('share', ...args, '--role', 'viewer')).stderr).toContain('cannot be changed here');
    expect((await runAccount('reseller', '--revoke', 'reseller@shop.example')).code).toBe(1);
    expect((await runAccount('provider', 'ann@shop.example', '--provider', 'none')).code).toBe(0);
    expect(await roles()).not.toHaveProperty('reseller@shop.example');
  });
});

describe('domain verify', () => {
  let said: SaidWorld;
  const database = sharedDatabase();
  let worker: JobWorker;
  let domainId: number;
  let value: string;

  beforeAll(async () => {
    const place = { databaseUrl: database.url, redisUrl: undefined };
    await migrateQueue(place, QUEUES);
    const run = async (job: { domainId: number }) =>
      void (await makeVerification(database.db, job, () => said));
    worker = runJobWorker(place, VERIFY_TXT, run, {
      concurrency: 4,
      onTrouble: () => {},
      onFailed: () => {},
    });
  });
  afterAll(async () => {
    await worker?.stop(1000);
  });
  beforeEach(async () => {
    const accountId = await newAccount(database.db, 'ann@shop.example');
    const domain = await newDomain(database.db, accountId, 'shop.com.', { dnsMode: 'external' });
    domainId = domain.id;
    value = domain.verification?.value as string;
  });

  const run = (...args: string[]) => runCommands(addVerifyCommand, ['verify', ...args], database.url);

  it('has a worker look up the record, and prints the response of each server', async () => {
    said = { servers: [[value], 'nxdomain', ['other'], 'timeout'] };
    const { code, stdout, stderr } = await run('Shop.COM.');
    expect([code, stderr]).toEqual([1, '']);
    expect(stdout.replace(value, 'VALUE').replace(value, 'VALUE').split('\n')).toEqual([
      'shop.com',
      expect.stringMatching(/^ {2}_svc-challenge\.shop\.com {2}TXT {2}VALUE {2}\(until \d{4}-.*Z\)$/),
      '',
      expect.stringMatching(/^Nameservers of the domain \(1 of 4 have it, \d+\.\d s\)$/),
      expect.stringMatching(/^ {2}SERVER +ADDRESS +OUTCOME +TXT$/),
      '  ns1.dns.test  192.0.2.1  found    "VALUE"',
      '  ns2.dns.test  192.0.2.2  absent   -',
      '  ns3.dns.test  192.0.2.3  other    "other"',
      '  ns4.dns.test  192.0.2.4  error    -',
      '',
      'Public resolvers (for information only)',
      '  ADDRESS        OUTCOME',
      '  198.51.100.53  absent',
      '',
      expect.stringMatching(/^Verdict partial: .*1 of 4/),
      'Status unverified',
      '',
    ]);
  });

  it('exits with 0 once the domain is verified, and stays verified', async () => {
    said = { servers: [[value], [value]] };
    const first = await run('shop.com');
    expect([first.code, first.stdout.trimEnd().split('\n').at(-1)]).toEqual([
      0,
      'Status unverified -> active',
    ]);
    said = { servers: ['nxdomain'] };
    const again = await run('shop.com');
    expect([again.code, again.stdout.trimEnd().split('\n').at(-1)]).toEqual([0, 'Status active']);
  });

  it('prints the run and its evidence as JSON', async () => {
    said = { servers: ['nxdomain', [value]] };
    const { code, stdout } = await run('shop.com', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      domain: 'shop.com',
      outcome: 'not_verified',
      status: 'unverified',
      host: '_svc-challenge.shop.com',
      value,
      verified: false,
      next_attempt_at: expect.stringMatching(/Z$/),
      verification: {
        verdict: 'partial',
        found: 1,
        asked: 2,
        servers: [
          { server: 'ns1.dns.test', address: '192.0.2.1', outcome: 'absent' },
          { server: 'ns2.dns.test', address: '192.0.2.2', outcome: 'found', values: [value] },
        ],
        evidence: { links: [{ zone: 'shop.com.' }] },
      },
    });
  });

  it('replaces an expired value', async () => {
    await sql`update domain_verifications set expires_at = now()`.execute(database.db);
    const { code, stdout } = await run('shop.com');
    expect(code).toBe(1);
    expect(stdout).not.toContain(value);
    expect(stdout).toMatch(/TXT {2}svc-verify=[a-z2-7]{32} .*\n\nThe previous value has expired/);
  });

  it('rejects domains that cannot be verified', async () => {
    const accountId = await newAccount(database.db, 'bob@shop.example');
    await newDomain(database.db, accountId, 'managed.com.');
    await changeStatus(database.db, { ...BY, domainId, event: 'ban' });
    expect(await run('shop.com')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'shop.com: the domain is banned, so it cannot be verified\n',
    });
    expect(await run('managed.com')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('managed mode'),
    });
    expect(JSON.parse((await run('absent.com', '--json')).stdout)).toEqual({
      domain: 'absent.com',
      outcome: 'refused',
      code: 'absent',
      message: 'no such domain',
    });
  });

  it('reports an interrupt', async () => {
    await worker.stop(0); // no worker may run before the command is interrupted
    const interrupt = AbortSignal.abort();
    const { code, stderr } = await runCommands(addVerifyCommand, ['verify', 'shop.com'], database.url, {
      interrupt,
    });
    expect([code, stderr]).toEqual([130, 'shop.com: interrupted before the record was looked up\n']);
  });
});
