import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { parseName } from '../../../src/dns/name.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { findDomain } from '../../../src/store/domains/load-domains.ts';
import { migrate } from '../../../src/store/migrate/migrate.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { createDatabase, TEST_SETTINGS, type TestDatabase } from '../../support/database/database.ts';
import { emptyTables } from '../../support/database/domains.ts';

let database: TestDatabase;
let folder: string;

beforeAll(async () => {
  database = await createDatabase();
  folder = mkdtempSync(join(tmpdir(), 'zonefleet-names-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await database.drop();
});
beforeEach(async () => {
  await emptyTables(database.db, 'accounts', 'domains', 'zones', 'changes', 'api_keys');
  await createAccount(database.db, { email: 'Ann@shop.example' });
});

const run = (args: string[], settings?: { allowReservedNames: boolean }) =>
  runCommands(addDomainCommands, ['domain', ...args], database.url, settings);
const create = (...names: string[]) => run(['create', '--account', 'ann@shop.example', ...names]);
const status = async (name: string) => (await findDomain(database.db, parseName(name)))?.status;
const isServed = async (name: string) => (await loadZone(database.db, parseName(name))) !== undefined;

describe('domain create', () => {
  it('takes names in any case, in Unicode and with the final dot, and says what became of each', async () => {
    const { code, stdout, stderr } = await create('Shop.COM.', 'münchen.de', 'XN--MNCHEN-3YA.de', 'shop.com');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(
      /^created shop\.com status pending plan free change \d+\ncreated xn--mnchen-3ya\.de status pending plan free change \d+\ndomains 2 created 2 refused 0\n$/,
    );
    expect(await isServed('xn--mnchen-3ya.de.')).toBe(true);
  });

  it('has them signed where the settings or the operator say so', async () => {
    const keySecrets = [{ name: 'k', secret: Buffer.alloc(32, 3) }];
    const made = async (name: string, options: string[], settings: object = { keySecrets }) => {
      const { code } = await run(
        ['create', '--account', 'ann@shop.example', ...options, name],
        settings as never,
      );
      return [code, (await findDomain(database.db, parseName(`${name}.`)))?.dnssecStatus];
    };
    const signsNewDomains = true;
    expect(await made('a.com', [])).toEqual([0, 'off']);
    expect(await made('b.com', ['--dnssec'])).toEqual([0, 'signing']);
    expect(await made('c.com', [], { keySecrets, signsNewDomains })).toEqual([0, 'signing']);
    expect(await made('d.com', ['--no-dnssec'], { keySecrets, signsNewDomains })).toEqual([0, 'off']);
    expect(await made('e.com', ['--mode', 'external'], { keySecrets, signsNewDomains })).toEqual([0, 'off']);
    expect(await made('f.com', ['--dnssec'], {})).toEqual([1, undefined]);
  });

  it('refuses names that no account can have or another one has, and goes on with the others', async () => {
    await createAccount(database.db, { email: 'bob@shop.example' });
    await run(['create', '--account', 'bob@shop.example', 'bobs.com']);
    await sql`update domains set status = 'active'`.execute(database.db);
    const { code, stdout, stderr } = await create('co.uk', 'bobs.com', 'a..b', 'anns.com', 'www.example.com');
    expect(code).toBe(1);
    expect(stdout).toMatch(/^created anns\.com .*\ndomains 5 created 1 refused 4\n$/);
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^co\.uk: .*public suffix/),
      expect.stringMatching(/^bobs\.com: .*"transfer": true/),
      expect.stringMatching(/^a\.\.b: .*(empty label|not a valid)/),
      expect.stringMatching(/^www\.example\.com: .*reserved/),
      '',
    ]);
  });

  it('has the records of managed ones looked for in the background, unless it is told not to', async () => {
    await create('shop.com');
    await create('--no-scan', 'plain.com');
    await create('--mode', 'external', 'elsewhere.com');
    const { rows } = await sql`
      select d.name, s.kind, s.imports from scans s join domains d on d.id = s.domain_id`.execute(
      database.db,
    );
    expect(rows).toEqual([{ name: 'shop.com.', kind: 'background', imports: true }]);
  });

  it('for an account that is not there answers 1 and creates nothing', async () => {
    const { code, stderr } = await run(['create', '--account', 'nobody@x.example', 'shop.com']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'nobody@x.example: no such account\n' });
    expect(await status('shop.com.')).toBeUndefined();
  });
});

describe('names in a file', () => {
  it('are one a line, and a refusal names its line', async () => {
    const file = join(folder, 'names.txt');
    writeFileSync(file, '\ufeff# ours\nshop.com\n\n  Münster.de.  # north\r\nno good\nshop.com\nuk\n');
    const { code, stdout, stderr } = await create('--file', file);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^created shop\.com .*\ncreated xn--mnster-3ya\.de .*\ndomains 4 created 2 refused 2\n$/,
    );
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(new RegExp(`^${file}:5: no good: `)),
      expect.stringMatching(new RegExp(`^${file}:7: uk: .*single label`)),
      '',
    ]);
  });

  it('that cannot be read are an error, as are no names at all', async () => {
    expect(await run(['ban', '--file', '/nowhere'])).toMatchObject({
      code: 2,
      stderr: 'zonefleet: /nowhere: no such file\n',
    });
    expect(await run(['ban'])).toMatchObject({ code: 2, stderr: expect.stringContaining('--file') });
  });
});

describe('the operator’s moves', () => {
  it('change the status, and what is served follows', async () => {
    await create('shop.com');
    for (const [verb, outcome, after, served] of [
      ['disable', 'disabled', 'disabled', false],
      ['enable', 'enabled', 'pending', true],
      ['ban', 'banned', 'banned', false],
      ['unban', 'unbanned', 'pending', true],
      ['suspend', 'suspended', 'pending', true],
      ['resume', 'resumed', 'pending', true],
    ] as const) {
      const { code, stdout } = await run([verb, 'SHOP.com.']);
      expect([verb, code, stdout.split(' ').slice(0, 2).join(' ')]).toEqual([verb, 0, `${outcome} shop.com`]);
      expect([verb, await status('shop.com.'), await isServed('shop.com.')]).toEqual([verb, after, served]);
    }
  });

  it('that the status does not allow are refused, and the others succeed', async () => {
    await create('a.com', 'b.com');
    await run(['ban', 'a.com']);
    const { code, stdout, stderr } = await run(['ban', 'a.com', 'nowhere.com', 'b.com', '--json']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(JSON.parse(stdout)).toEqual({
      domains: [
        { domain: 'a.com', outcome: 'refused', code: 'wrong_state', message: 'the domain is banned already' },
        { domain: 'nowhere.com', outcome: 'refused', code: 'absent', message: 'no such domain' },
        expect.objectContaining({
          domain: 'b.com',
          outcome: 'banned',
          status: 'banned',
          served: 'none',
          change_id: expect.any(Number),
        }),
      ],
      summary: { domains: 3, done: 1, refused: 2, complete: true },
    });
  });

  it('delete domains, which stay restorable', async () => {
    await create('shop.com');
    expect(await run(['delete', 'shop.com'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^deleted shop\.com change \d+\n/),
    });
    expect(await isServed('shop.com.')).toBe(false);
    expect(await run(['delete', 'shop.com'])).toMatchObject({
      code: 1,
      stderr: 'shop.com: no such domain\n',
    });
    expect(await run(['list', '--deleted'])).toMatchObject({ stdout: expect.stringMatching(/shop\.com /) });
    expect(await run(['restore', 'shop.com'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^restored shop\.com status pending /),
    });
    expect(await isServed('shop.com.')).toBe(true);
    expect(await run(['restore', 'shop.com'])).toMatchObject({
      code: 1,
      stderr: 'shop.com: the domain is not deleted\n',
    });
  });

  it('set plans', async () => {
    await create('shop.com');
    expect(await run(['plan', 'shop.com', '--plan', 'pro'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(
        /^updated shop\.com status pending plan free -> pro max records 200 -> no limit\n/,
      ),
    });
    expect(await run(['plan', 'shop.com', '--plan', 'pro'])).toMatchObject({
      stdout: expect.stringMatching(/^updated shop\.com status pending plan pro \(no change\)\n/),
    });
    const back = await run(['plan', 'shop.com', '--plan', 'free', '--json']);
    expect(JSON.parse(back.stdout).domains[0]).toMatchObject({ plan: 'free', plan_before: 'pro' });
    expect(await run(['plan', 'shop.com', '--plan', 'none'])).toMatchObject({
      stdout: expect.stringContaining('plan free -> none max records 200 -> 0'),
    });
    expect(await run(['plan', 'shop.com', '--plan', 'gold'])).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/^shop\.com: .*gold/),
    });
    expect(await run(['plan', 'shop.com'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--plan'),
    });
  });

  it('set terms, overrides and renewal of a subscription', async () => {
    await create('shop.com');
    const plan = await addTerm(database.db, 'pro', { days: 30, priceRials: 500 });
    const term = String(plan?.terms.at(-1)?.id);
    const set = await run([
      'plan',
      'shop.com',
      '--plan',
      'pro',
      '--term',
      term,
      '--overrides',
      '{"max_records":7}',
    ]);
    expect(set.stdout).toMatch(
      new RegExp(
        `^updated shop.com status pending plan free -> pro max records 200 -> 7 term ${term} until \\S+ renewed overrides {"max_records":7}\n`,
      ),
    );
    const off = await run(['plan', 'shop.com', '--auto-renew', 'off', '--json']);
    expect(JSON.parse(off.stdout).domains[0].subscription).toMatchObject({
      status: 'active',
      auto_renew: false,
      term: { days: 30, price_rials: 500 },
      overrides: { max_records: 7 },
    });
    expect((await run(['plan', 'shop.com', '--overrides', '{}'])).stdout).toContain(
      'max records 7 -> no limit',
    );
    expect((await run(['plan', 'shop.com', '--cancel'])).stdout).toContain('plan pro cancelled term');
    await run(['plan', 'shop.com', '--plan', 'free']);
    const refusals: [string[], number, string][] = [
      [['--term', term], 1, `the plan "free" sells no term ${term}`],
      [['--plan', 'none', '--auto-renew', 'on'], 1, 'without a plan there is no term'],
      [['--overrides', '{"max_record":1}'], 2, '--overrides: max_record: is no entitlement'],
      [['--overrides', '[]'], 2, 'expected an object'],
      [['--overrides', '{'], 2, 'this is not JSON'],
      [['--term', 'x'], 2, '--term: expected the id of a term'],
      [['--auto-renew', 'yes'], 2, '--auto-renew: expected on or off'],
      [['--cancel', '--plan', 'pro'], 2, '--cancel goes with no other option'],
    ];
    for (const [options, code, message] of refusals) {
      expect(await run(['plan', 'shop.com', ...options])).toMatchObject({
        code,
        stderr: expect.stringContaining(message),
      });
    }
    await run(['plan', 'shop.com', '--plan', 'pro']);
    expect((await run(['plan', 'shop.com', '--cancel'])).stderr).toContain('has no end');
    expect((await run(['plan', 'shop.com', '--auto-renew', 'on'])).stderr).toContain('no term that could be');
  });
});

describe('domain restore', () => {
  const SECONDS = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/.source;
  const idsOf = async () => {
    const { domains } = JSON.parse((await run(['list', '--deleted', '--json'])).stdout);
    return domains.map(({ id }: { id: number }) => id);
  };
  const owner = async () => (await findDomain(database.db, parseName('shop.com.')))?.accountId;

  /** Ann's, Bob's, and Bob's again. */
  beforeEach(async () => {
    await createAccount(database.db, { email: 'bob@shop.example' });
    for (const account of ['ann', 'bob', 'bob']) {
      await run(['create', '--account', `${account}@shop.example`, 'shop.com']);
      await run(['delete', 'shop.com']);
    }
  });

  it('of a name that several domains had is refused with all of them, and restores none', async () => {
    const ids = await idsOf();
    const { code, stdout, stderr } = await run(['restore', 'shop.com']);
    expect([code, stdout]).toEqual([1, 'domains 1 restored 0 refused 1\n']);
    expect(stderr.split('\n')).toEqual([
      'shop.com: 3 deleted domains have this name: say which with --account and --id',
      expect.stringMatching(
        new RegExp(`^ {2}id ${ids[2]} of bob@shop\\.example, 0 records, deleted ${SECONDS}$`),
      ),
      expect.stringMatching(new RegExp(`^ {2}id ${ids[1]} of bob@shop\\.example, `)),
      expect.stringMatching(new RegExp(`^ {2}id ${ids[0]} of Ann@shop\\.example, `)),
      '',
    ]);
    expect(await owner()).toBeUndefined();
    const { stdout: json } = await run(['restore', 'shop.com', '--json']);
    expect(JSON.parse(json).domains).toEqual([
      {
        domain: 'shop.com',
        outcome: 'refused',
        code: 'ambiguous',
        message: expect.any(String),
        deleted: [ids[2], ids[1], ids[0]].map((id) => ({
          id,
          account: { id: expect.any(Number), email: expect.stringContaining('@shop.example') },
          records: 0,
          deleted_at: expect.any(String),
        })),
      },
    ]);
  });

  it('takes the one of an account', async () => {
    expect(await run(['restore', 'shop.com', '--account', 'ANN@shop.example'])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^restored shop\.com status pending /),
    });
    expect(JSON.parse((await run(['show', 'shop.com', '--json'])).stdout).domains[0].account.email).toBe(
      'Ann@shop.example',
    );
  });

  it('takes the one with an id, where an account is not enough', async () => {
    const ids = await idsOf();
    const several = await run(['restore', 'shop.com', '--account', 'bob@shop.example']);
    expect(several.code).toBe(1);
    expect(several.stderr).toMatch(/^shop\.com: 2 deleted domains have this name: say which with --id\n/);
    expect(several.stderr).not.toContain('Ann@');
    const mixed = await run(['restore', 'shop.com', '--account', 'bob@shop.example', '--id', `${ids[0]}`]);
    expect([mixed.code, mixed.stderr.split('\n')]).toEqual([
      1,
      [
        'shop.com: none of its deleted domains is the one asked for',
        ...Array(3).fill(expect.any(String)),
        '',
      ],
    ]);
    expect(await run(['restore', 'SHOP.com.', '--id', `${ids[1]}`])).toMatchObject({ code: 0 });
    expect(await findDomain(database.db, parseName('shop.com.'))).toMatchObject({ id: ids[1] });
  });

  it('says what is wrong with its options', async () => {
    for (const [args, words] of [
      [['--id', 'x'], '--id: expected an id, not "x"'],
      [['--id', '1', 'other.com'], '--id goes with one name'],
    ] as const) {
      const { code, stderr } = await run(['restore', 'shop.com', ...args]);
      expect([code, stderr]).toEqual([2, `zonefleet: ${words}\n`]);
    }
    expect(await run(['restore', 'shop.com', '--account', 'nobody'])).toMatchObject({
      code: 1,
      stderr: 'nobody: no such account\n',
    });
  });
});

describe('domain list', () => {
  beforeEach(async () => {
    await createAccount(database.db, { email: 'bob@shop.example' });
    await create('b.com', 'a.com', 'münchen.de');
    await run(['create', '--account', 'bob@shop.example', 'c.com']);
    await run(['disable', 'b.com']);
  });
  const names = async (...args: string[]) => {
    const { code, stdout } = await run(['list', '--json', ...args]);
    expect(code).toBe(0);
    return JSON.parse(stdout).domains.map(({ domain }: { domain: string }) => domain);
  };

  it('is a table by name', async () => {
    const { code, stdout } = await run(['list']);
    const [heads = '', ...rows] = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(heads).toMatch(/^DOMAIN +STATUS +MODE +SERVED +SERIAL +RECORDS +PLAN +ACCOUNT +CREATED$/);
    expect(rows.map((row) => row.split(/ +/)[0])).toEqual(['a.com', 'b.com', 'c.com', 'xn--mnchen-3ya.de']);
    expect(rows[1]).toMatch(/^b\.com +disabled +managed +none +\d+ +0 +free +Ann@shop\.example +\d{4}-/);
  });

  it('is narrowed by owner, status, mode and words', async () => {
    expect(await names('--account', 'bob@shop.example')).toEqual(['c.com']);
    expect(await names('--status', 'disabled,banned')).toEqual(['b.com']);
    expect(await names('--mode', 'external')).toEqual([]);
    expect(await names('--search', 'münch')).toEqual(['xn--mnchen-3ya.de']);
    expect(await run(['list', '--status', 'gone'])).toMatchObject({ code: 2 });
    expect(await run(['list', '--account', 'nobody'])).toMatchObject({ code: 1 });
  });
});

describe('domain show', () => {
  it('shows all about domains, and exits with 1 if one is unknown', async () => {
    await create('münchen.de');
    const { code, stdout, stderr } = await run(['show', 'MÜNCHEN.de', 'nowhere.com']);
    expect({ code, stderr }).toEqual({ code: 1, stderr: 'nowhere.com: no such domain\n' });
    expect(stdout).toMatch(
      /^xn--mnchen-3ya\.de \(münchen\.de\)\n {2}id +\d+\n {2}account +Ann@shop\.example \(\d+\)\n/,
    );
    expect(stdout).toMatch(
      /\n {2}records +0 \(of 200\)\n {2}plan +free\n {2}nameservers +ns1\.example\.net ns2\.example\.net\n/,
    );
  });

  it('as JSON has every figure', async () => {
    await create('shop.com');
    const { stdout } = await run(['show', 'shop.com', '--json']);
    expect(JSON.parse(stdout).domains).toEqual([
      {
        id: expect.any(Number),
        domain: 'shop.com',
        unicode: 'shop.com',
        account: { id: expect.any(Number), email: 'Ann@shop.example' },
        status: 'pending',
        dns_mode: 'managed',
        dnssec: { status: 'off' },
        served: 'full',
        suspended: false,
        suspended_by: [],
        serial: 1,
        records: 0,
        max_records: 200,
        plan: 'free',
        nameservers: ['ns1.example.net', 'ns2.example.net'],
        current_nameservers: null,
        findings: [],
        pending_since: expect.any(String),
        moved_since: null,
        next_check_at: expect.toBeOneOf([null, expect.any(String)]),
        created_at: expect.any(String),
        updated_at: expect.any(String),
        deleted_at: null,
      },
    ]);
  });
});

describe('a name that several accounts have', () => {
  beforeEach(async () => {
    await createAccount(database.db, { email: 'bob@shop.example' });
    await create('shop.com');
    await run(['create', '--account', 'bob@shop.example', 'shop.com']);
  });

  const bySuspended = async () =>
    (
      await sql<{ email: string; suspended: boolean }>`
        select a.email, d.suspended_at is not null as suspended from domains d join accounts a on a.id = d.account_id order by d.id`.execute(
        database.db,
      )
    ).rows.map(({ suspended }) => suspended);

  it('is refused by every command without --account, with a list of the accounts that have it', async () => {
    const verbs = ['show', 'delete', 'disable', 'enable', 'ban', 'unban', 'suspend', 'resume', 'approve'];
    const before = await sql`select * from domains order by id`.execute(database.db);
    for (const words of [...verbs.map((verb) => [verb]), ['plan', '--plan', 'pro']]) {
      const { code, stderr } = await run([...words, 'shop.com']);
      expect([words, code, stderr.split('\n')]).toEqual([
        words,
        1,
        [
          'shop.com: 2 accounts have this domain: say whose with --account',
          expect.stringMatching(/^ {2}id \d+ of Ann@shop\.example \(\d+\), pending, answered: \w+$/),
          expect.stringMatching(/^ {2}id \d+ of bob@shop\.example \(\d+\), pending$/),
          '',
        ],
      ]);
    }
    expect((await sql`select * from domains order by id`.execute(database.db)).rows).toEqual(before.rows);
  });

  it('has them in the JSON', async () => {
    const { code, stdout } = await run(['suspend', 'shop.com', '--json']);
    expect([code, JSON.parse(stdout).domains]).toEqual([
      1,
      [
        {
          domain: 'shop.com',
          outcome: 'refused',
          code: 'ambiguous',
          message: '2 accounts have this domain: say whose with --account',
          candidates: ['Ann@shop.example', 'bob@shop.example'].map((email) => ({
            id: expect.any(Number),
            account: { id: expect.any(Number), email },
            status: 'pending',
            served: expect.any(String),
          })),
        },
      ],
    ]);
  });

  it('is that of --account, by email or id', async () => {
    expect(await run(['suspend', 'shop.com', '--account', 'BOB@shop.example'])).toMatchObject({ code: 0 });
    expect(await bySuspended()).toEqual([false, true]);
    const { rows } = await sql<{ id: number }>`select id from accounts order by id`.execute(database.db);
    expect(await run(['suspend', 'shop.com', '--account', String(rows[0]?.id)])).toMatchObject({ code: 0 });
    expect(await bySuspended()).toEqual([true, true]);
    const shown = await run(['show', 'shop.com', '--account', 'bob@shop.example']);
    expect([shown.code, shown.stdout]).toEqual([0, expect.stringContaining('bob@shop.example')]);
  });

  it('is nobody’s when --account has none, or does not exist', async () => {
    await createAccount(database.db, { email: 'eve@shop.example' });
    const none = await run(['ban', 'shop.com', '--account', 'eve@shop.example']);
    expect([none.code, none.stderr]).toEqual([
      1,
      expect.stringMatching(/^shop\.com: this account has no such domain; these have it\n {2}id /),
    ]);
    const unknown = await run(['ban', 'shop.com', '--account', 'nobody@shop.example']);
    expect([unknown.code, unknown.stderr]).toEqual([1, 'nobody@shop.example: no such account\n']);
  });
});

describe('domain approve and reserve-set', () => {
  const SET = 'ns1.example.org,NS2.example.org.';
  const rights = async () =>
    (
      await sql<{ email: string; names: string[] }>`
        select a.email, r.names from ns_rights r join accounts a on a.id = r.account_id
        where r.names @> array['ns1.example.org.'] order by a.email`.execute(database.db)
    ).rows;

  beforeEach(async () => {
    const sets = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
    await migrate(database.db, { ...TEST_SETTINGS, nameserverSets: sets });
    await createAccount(database.db, { email: 'bob@shop.example' });
    await create('shop.com');
    await run(['create', '--account', 'bob@shop.example', 'shop.com']);
    await sql`delete from ns_rights`.execute(database.db);
    await sql`update domains set ns_sets = '[]'`.execute(database.db);
  });
  afterAll(() => migrate(database.db, TEST_SETTINGS));

  it('give the set that is named, or that the parent showed, and refuse another account’s without --take', async () => {
    const bobs = ['--account', 'bob@shop.example'];
    const reserved = await run(['reserve-set', 'shop.com', SET, ...bobs]);
    expect([reserved.code, reserved.stdout]).toEqual([
      0,
      expect.stringMatching(/^reserved shop\.com status pending /),
    ]);
    const names = ['ns1.example.org.', 'ns2.example.org.'];
    expect(await rights()).toEqual([{ email: 'bob@shop.example', names }]);
    await sql`update domain_checks set current_ns = ${names}::text[]`.execute(database.db);
    const anns = ['approve', 'shop.com', '--account', 'ann@shop.example'];
    const refused = await run(anns);
    expect([refused.code, refused.stderr]).toEqual([
      1,
      'shop.com: another account has the right to this set for this name; --take takes it away\n',
    ]);
    expect((await run([...anns, '--take'])).code).toBe(0);
    expect(await rights()).toEqual([{ email: 'Ann@shop.example', names }]);
  });

  it('refuse what are no names of ours, and what are no names', async () => {
    const bobs = ['--account', 'bob@shop.example'];
    const foreign = await run(['reserve-set', 'shop.com', 'ns1.example.org,ns1.other.org', ...bobs]);
    expect([foreign.code, foreign.stderr]).toEqual([
      1,
      'shop.com: these are not the nameservers of one set of ours: name all of a set, or one of each list of the pool\n',
    ]);
    for (const set of ['', 'ns1.example.org,', 'a..b']) {
      const { code, stderr } = await run(['reserve-set', 'shop.com', set, ...bobs]);
      expect([set, code, stderr]).toEqual([set, 2, expect.stringMatching(/^zonefleet: the set: "/)]);
    }
    expect(await rights()).toEqual([]);
  });
});
