import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { parseName } from '../../../src/dns/name.ts';
import { migrate } from '../../../src/features/migrate.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { addTerm } from '../../../src/store/accounts/plans.ts';
import { findDomain } from '../../../src/store/domains/load-domains.ts';
import { loadZone } from '../../../src/store/zones/load-zones.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { TEST_SETTINGS } from '../../support/database/database.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const ANN = ['--account', 'ann@shop.example'];
const BOB = ['--account', 'bob@shop.example'];
const database = sharedDatabase();

beforeEach(async () => {
  for (const email of ['Ann@shop.example', 'bob@shop.example']) await createAccount(database.db, { email });
});

const run = (args: readonly string[], settings: object = {}) =>
  runCommands(addDomainCommands, ['domain', ...args], database.url, settings);
const create = (...names: string[]) => run(['create', ...ANN, ...names]);
const find = (name: string) => findDomain(database.db, parseName(name));
const isServed = async (name: string) => (await loadZone(database.db, parseName(name))) !== undefined;
const domainsOf = async (args: readonly string[]) =>
  JSON.parse((await run([...args, '--json'])).stdout).domains;

describe('domain create', () => {
  it('accepts names in any form and refuses those that the account may not have', async () => {
    await run(['create', ...BOB, 'bobs.com']);
    await sql`update domains set status = 'active'`.execute(database.db);
    const names = ['Shop.COM.', 'münchen.de', 'XN--MNCHEN-3YA.de', 'shop.com'];
    const refused = ['co.uk', 'bobs.com', 'a..b', 'www.example.com'];
    const { code, stdout, stderr } = await create(...names, ...refused);
    expect(code).toBe(1);
    expect(stdout).toMatch(
      /^created shop\.com status pending plan free change \d+\ncreated xn--mnchen-3ya\.de status .*\ndomains 6 created 2 refused 4\n$/,
    );
    expect(stderr.split('\n')).toEqual([
      expect.stringMatching(/^co\.uk: .*public suffix/),
      expect.stringMatching(/^bobs\.com: .*"transfer": true/),
      expect.stringMatching(/^a\.\.b: .*(empty label|not a valid)/),
      expect.stringMatching(/^www\.example\.com: .*reserved/),
      '',
    ]);
    expect(await isServed('xn--mnchen-3ya.de.')).toBe(true);
  });

  it('signs the zone if the options or the settings say so', async () => {
    const keySecrets = [{ name: 'k', secret: Buffer.alloc(32, 3) }];
    for (const [name, options, settings, code, dnssecStatus] of [
      ['a.com', [], { keySecrets }, 0, 'off'],
      ['b.com', ['--dnssec'], { keySecrets }, 0, 'signing'],
      ['c.com', [], { keySecrets, signsNewDomains: true }, 0, 'signing'],
      ['d.com', ['--no-dnssec'], { keySecrets, signsNewDomains: true }, 0, 'off'],
      ['e.com', ['--mode', 'external'], { keySecrets, signsNewDomains: true }, 0, 'off'],
      ['f.com', ['--dnssec'], {}, 1, undefined],
    ] as const) {
      const ended = await run(['create', ...ANN, ...options, name], settings);
      expect([name, ended.code, (await find(`${name}.`))?.dnssecStatus]).toEqual([name, code, dnssecStatus]);
    }
  });

  it('starts a scan for records of managed domains, unless --no-scan is given', async () => {
    await create('shop.com');
    await create('--no-scan', 'plain.com');
    await create('--mode', 'external', 'elsewhere.com');
    const { rows } = await sql`
      select d.name, s.kind, s.imports from scans s join domains d on d.id = s.domain_id`.execute(
      database.db,
    );
    expect(rows).toEqual([{ name: 'shop.com.', kind: 'background', imports: true }]);
  });
});

const REFUSALS = [
  [['ban', '--file', '/nowhere'], 2, 'zonefleet: /nowhere: no such file\n'],
  [['ban'], 2, '--file'],
  [['create', '--account', 'nobody@x.example', 'shop.com'], 1, 'nobody@x.example: no such account\n'],
  [['list', '--status', 'gone'], 2, '--status'],
  [['list', '--account', 'nobody'], 1, 'nobody: no such account\n'],
  [['plan', 'shop.com', '--plan', 'gold'], 1, 'shop.com: '],
  [['plan', 'shop.com'], 2, '--plan'],
  [
    ['plan', 'shop.com', '--plan', 'none', '--auto-renew', 'on'],
    1,
    'a term, overrides and renewal require a plan',
  ],
  [
    ['plan', 'shop.com', '--overrides', '{"max_record":1}'],
    2,
    '--overrides: max_record: is not an entitlement',
  ],
  [['plan', 'shop.com', '--overrides', '[]'], 2, 'expected an object'],
  [['plan', 'shop.com', '--overrides', '{'], 2, 'not valid JSON'],
  [['plan', 'shop.com', '--term', 'x'], 2, '--term: expected the id of a term'],
  [['plan', 'shop.com', '--term', '999'], 1, 'the plan "free" has no term 999 on sale'],
  [['plan', 'shop.com', '--auto-renew', 'yes'], 2, '--auto-renew: expected on or off'],
  [['plan', 'shop.com', '--cancel', '--plan', 'pro'], 2, '--cancel cannot be combined with other options'],
  [['restore', 'shop.com', '--id', 'x'], 2, 'zonefleet: --id: expected an id, not "x"\n'],
  [['restore', 'shop.com', '--id', '1', 'other.com'], 2, 'zonefleet: --id requires exactly one name\n'],
  [['restore', 'shop.com', '--account', 'nobody'], 1, 'nobody: no such account\n'],
  [['restore', 'shop.com'], 1, 'shop.com: the domain is not deleted\n'],
  [['ban', 'shop.com', '--account', 'nobody@shop.example'], 1, 'nobody@shop.example: no such account\n'],
  [
    ['ban', 'shop.com', ...BOB],
    1,
    'shop.com: this account has no such domain; these accounts have it\n  id ',
  ],
  [['reserve-set', 'shop.com', ''], 2, 'zonefleet: the set: "'],
  [['reserve-set', 'shop.com', 'ns1.example.org,'], 2, 'zonefleet: the set: "'],
  [['reserve-set', 'shop.com', 'a..b'], 2, 'zonefleet: the set: "'],
  [
    ['reserve-set', 'shop.com', 'ns1.example.net,ns1.other.org'],
    1,
    'shop.com: these names are not a complete set of this fleet: give all names of a set, or one name of each list of the pool\n',
  ],
] as const;

it('refuses wrong options, and changes nothing', async () => {
  await create('shop.com');
  for (const [args, code, message] of REFUSALS)
    expect([args, await run(args)]).toEqual([
      args,
      expect.objectContaining({ code, stderr: expect.stringContaining(message) }),
    ]);
  expect(await find('shop.com.')).toMatchObject({ status: 'pending', plan: { slug: 'free' } });
});

it('the operator’s commands change the status, and what is served follows', async () => {
  await create('shop.com');
  for (const [verb, outcome, after, served] of [
    ['disable', 'disabled', 'disabled', false],
    ['enable', 'enabled', 'pending', true],
    ['ban', 'banned', 'banned', false],
    ['unban', 'unbanned', 'pending', true],
    ['suspend', 'suspended', 'pending', true],
    ['resume', 'resumed', 'pending', true],
    ['delete', 'deleted', undefined, false],
    ['restore', 'restored', 'pending', true],
  ] as const) {
    const { code, stdout } = await run([verb, 'SHOP.com.']);
    expect([verb, code, stdout.split(' ').slice(0, 2).join(' ')]).toEqual([verb, 0, `${outcome} shop.com`]);
    const state = [verb, (await find('shop.com.'))?.status, await isServed('shop.com.')];
    expect(state).toEqual([verb, after, served]);
  }
});

it('domain plan sets the plan, the term, overrides and renewal, and prints what changed', async () => {
  await create('shop.com');
  const sold = await addTerm(database.db, 'pro', { days: 30, priceRials: 500 });
  const term = String(sold?.terms.at(-1)?.id);
  const overrides = '{"max_records":7}';
  const START = 'updated shop.com status pending plan';
  for (const [options, printed] of [
    [['--plan', 'pro'], `${START} free -> pro max records 200 -> no limit\n`],
    [['--plan', 'pro'], `${START} pro (no change)\n`],
    [['--plan', 'none'], `${START} pro -> none max records no limit -> 0\n`],
    [
      ['--plan', 'pro', '--term', term, '--overrides', overrides],
      `pro max records 0 -> 7 term ${term} until `,
    ],
    [['--overrides', overrides], ` renewed overrides ${overrides}`],
    [['--overrides', '{}'], 'max records 7 -> no limit'],
    [['--cancel'], 'plan pro cancelled term'],
  ] as const)
    expect(await run(['plan', 'shop.com', ...options])).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(printed),
    });
  await run(['plan', 'shop.com', '--plan', 'free']);
  expect(await domainsOf(['plan', 'shop.com', '--plan', 'pro', '--term', term])).toMatchObject([
    { plan: 'pro', plan_before: 'free' },
  ]);
  const [{ subscription }] = await domainsOf(['plan', 'shop.com', '--auto-renew', 'off']);
  expect(subscription).toMatchObject({
    status: 'active',
    auto_renew: false,
    term: { days: 30, price_rials: 500 },
  });
  await run(['plan', 'shop.com', '--plan', 'free']);
  await run(['plan', 'shop.com', '--plan', 'pro']);
  for (const [options, refusal] of [
    [['--cancel'], 'has no end'],
    [['--auto-renew', 'on'], 'no term that could be'],
  ] as const)
    expect((await run(['plan', 'shop.com', ...options])).stderr).toContain(refusal);
});

it('domain restore refuses a name that several deleted domains have, unless an option selects one', async () => {
  for (const account of [ANN, BOB, BOB]) {
    await run(['create', ...account, 'shop.com']);
    await run(['delete', 'shop.com']);
  }
  const [a, b, c] = (await domainsOf(['list', '--deleted'])).map(({ id }: { id: number }) => id);
  const { code, stdout, stderr } = await run(['restore', 'shop.com']);
  expect([code, stdout]).toEqual([1, 'domains 1 restored 0 refused 1\n']);
  expect(stderr.split('\n')).toEqual([
    'shop.com: 3 deleted domains have this name: choose one with --account and --id',
    expect.stringMatching(`^  id ${c} of bob@shop\\.example, 0 records, deleted \\d{4}-\\S+:\\d\\dZ$`),
    expect.stringMatching(`^  id ${b} of bob@shop\\.example, `),
    expect.stringMatching(`^  id ${a} of Ann@shop\\.example, `),
    '',
  ]);
  expect(await domainsOf(['restore', 'shop.com'])).toMatchObject([
    {
      code: 'ambiguous',
      deleted: [{ id: c, records: 0, deleted_at: expect.any(String) }, { id: b }, { id: a }],
    },
  ]);
  for (const [options, refusal] of [
    [BOB, 'shop.com: 2 deleted domains have this name: choose one with --id'],
    [[...BOB, '--id', `${a}`], 'shop.com: no deleted domain with this name matches'],
  ] as const)
    expect((await run(['restore', 'shop.com', ...options])).stderr.split('\n')[0]).toBe(refusal);
  expect(await find('shop.com.')).toBeUndefined();

  for (const [options, id] of [
    [['--account', 'ANN@shop.example'], a],
    [['--id', `${b}`], b],
  ] as const) {
    expect(await run(['restore', 'SHOP.com.', ...options])).toMatchObject({ code: 0 });
    expect(await find('shop.com.')).toMatchObject({ id });
    await run(['delete', 'shop.com']);
  }
});

describe('domain list', () => {
  beforeEach(async () => {
    await create('b.com', 'a.com', 'münchen.de');
    await run(['create', ...BOB, 'c.com']);
    await run(['disable', 'b.com']);
  });

  it('prints a table sorted by name', async () => {
    const { code, stdout } = await run(['list']);
    const [heads = '', ...rows] = stdout.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(heads).toMatch(/^DOMAIN +STATUS +MODE +SERVED +SERIAL +RECORDS +PLAN +ACCOUNT +CREATED$/);
    expect(rows.map((row) => row.split(/ +/)[0])).toEqual(['a.com', 'b.com', 'c.com', 'xn--mnchen-3ya.de']);
    expect(rows[1]).toMatch(/^b\.com +disabled +managed +none +\d+ +0 +free +Ann@shop\.example +\d{4}-/);
  });

  it('filters by owner, status, mode and text', async () => {
    for (const [options, names] of [
      [BOB, ['c.com']],
      [['--status', 'disabled,banned'], ['b.com']],
      [['--mode', 'external'], []],
      [['--search', 'münch'], ['xn--mnchen-3ya.de']],
    ] as const) {
      const listed = await domainsOf(['list', ...options]);
      expect([options, listed.map(({ domain }: { domain: string }) => domain)]).toEqual([options, names]);
    }
  });
});

it('domain show prints all details, and exits with 1 if a domain is unknown', async () => {
  await create('münchen.de');
  const { code, stdout, stderr } = await run(['show', 'MÜNCHEN.de', 'nowhere.com']);
  expect({ code, stderr }).toEqual({ code: 1, stderr: 'nowhere.com: no such domain\n' });
  expect(stdout).toMatch(
    /^xn--mnchen-3ya\.de \(münchen\.de\)\n {2}id +\d+\n {2}account +Ann@shop\.example \(\d+\)\n/,
  );
  expect(stdout).toMatch(
    /\n {2}records +0 \(of 200\)\n {2}plan +free\n {2}nameservers +ns1\.example\.net ns2\.example\.net\n/,
  );
  expect(await domainsOf(['show', 'münchen.de'])).toEqual([
    {
      id: expect.any(Number),
      domain: 'xn--mnchen-3ya.de',
      unicode: 'münchen.de',
      account: { id: expect.any(Number), email: 'Ann@shop.example' },
      status: 'pending',
      dns_mode: 'managed',
      dnssec: { status: 'off' },
      served: 'full',
      suspended: false,
      suspended_by: [],
      serial: expect.any(Number),
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

describe('a name that several accounts have', () => {
  beforeEach(async () => {
    await create('shop.com');
    await run(['create', ...BOB, 'shop.com']);
  });

  it('is refused by every command without --account, with a list of the accounts that have it', async () => {
    const verbs = ['show', 'delete', 'disable', 'enable', 'ban', 'unban', 'suspend', 'resume', 'approve'];
    const before = await sql`select * from domains order by id`.execute(database.db);
    const message = '2 accounts have this domain: choose one with --account';
    for (const words of [...verbs.map((verb) => [verb]), ['plan', '--plan', 'pro']]) {
      const { code, stderr } = await run([...words, 'shop.com']);
      expect([words, code, stderr.split('\n')]).toEqual([
        words,
        1,
        [
          `shop.com: ${message}`,
          expect.stringMatching(/^ {2}id \d+ of Ann@shop\.example \(\d+\), pending, served: \w+$/),
          expect.stringMatching(/^ {2}id \d+ of bob@shop\.example \(\d+\), pending$/),
          '',
        ],
      ]);
    }
    const candidates = ['Ann@shop.example', 'bob@shop.example'].map((email) => ({
      id: expect.any(Number),
      account: { id: expect.any(Number), email },
      status: 'pending',
      served: expect.any(String),
    }));
    expect(await domainsOf(['suspend', 'shop.com'])).toEqual([
      { domain: 'shop.com', outcome: 'refused', code: 'ambiguous', message, candidates },
    ]);
    expect((await sql`select * from domains order by id`.execute(database.db)).rows).toEqual(before.rows);
  });

  it('is selected by --account, an email address or an id', async () => {
    const suspended = async () => {
      const { rows } = await sql<{ id: number; on: boolean }>`
        select account_id as id, suspended_at is not null as on from domains order by id`.execute(
        database.db,
      );
      return rows;
    };
    expect((await run(['suspend', 'shop.com', '--account', 'BOB@shop.example'])).code).toBe(0);
    const [anns, bobs] = await suspended();
    expect([anns?.on, bobs?.on]).toEqual([false, true]);
    expect((await run(['suspend', 'shop.com', '--account', String(anns?.id)])).code).toBe(0);
    expect((await suspended()).map(({ on }) => on)).toEqual([true, true]);
    expect((await run(['show', 'shop.com', ...BOB])).stdout).toContain('bob@shop.example');
  });
});

it('domain reserve-set and approve assign a set, and take it from another account only with --take', async () => {
  const names = ['ns1.example.org.', 'ns2.example.org.'];
  const rights = async () =>
    (
      await sql<{ email: string; names: string[] }>`
        select a.email, r.names from ns_rights r join accounts a on a.id = r.account_id
        where r.names @> array['ns1.example.org.'] order by a.email`.execute(database.db)
    ).rows;
  const sets = [...TEST_SETTINGS.nameserverSets, ['ns1.example.org', 'ns2.example.org']];
  await migrate(database.db, { ...TEST_SETTINGS, nameserverSets: sets });
  try {
    await create('shop.com');
    await run(['create', ...BOB, 'shop.com']);
    await sql`delete from ns_rights`.execute(database.db);
    await sql`update domains set ns_sets = '[]'`.execute(database.db);
    expect(await run(['reserve-set', 'shop.com', 'ns1.example.org,NS2.example.org.', ...BOB])).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^reserved shop\.com status pending /),
    });
    expect(await rights()).toEqual([{ email: 'bob@shop.example', names }]);
    await sql`update domain_checks set current_ns = ${names}::text[]`.execute(database.db);
    expect(await run(['approve', 'shop.com', ...ANN])).toMatchObject({
      code: 1,
      stderr:
        'shop.com: another account has the right to this set for this name: only an approval with "take" (domain approve --take) transfers it\n',
    });
    expect((await run(['approve', 'shop.com', ...ANN, '--take'])).code).toBe(0);
    expect(await rights()).toEqual([{ email: 'Ann@shop.example', names }]);
  } finally {
    await migrate(database.db, TEST_SETTINGS);
  }
});
