import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount } from '../../support/database/domains.ts';
import { saveMembership } from '../../support/database/memberships.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

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
  it('says to whom each domain passed, and a repeat that nothing was to do', async () => {
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
        stdout: expect.stringMatching(/^moved shop\.com to bob@shop\.example status pending \(no change\)\n/),
      });
  });

  it('wants to know whose is meant where several accounts have the name, and never gives one two', async () => {
    await createAccount(database.db, { email: 'carl@shop.example' });
    await run('create', '--account', 'carl@shop.example', 'shop.com');
    const unclear = await move('shop.com');
    expect(unclear.code).toBe(1);
    expect(unclear.stderr).toMatch(/^shop\.com: 2 accounts have this domain: say whose with --account\n/);
    expect((await move('--account', 'carl@shop.example', 'shop.com')).code).toBe(0);
    const second = await move('--account', 'ann@shop.example', 'shop.com');
    expect([second.code, second.stderr]).toEqual([
      1,
      expect.stringMatching(
        /^shop\.com: bob@shop\.example has a domain shop\.com of its own already \(id \d+, pending\)/,
      ),
    ]);
    expect(await owners()).toEqual(['shop.com. ann@shop.example', 'shop.com. bob@shop.example']);
  });

  it('names the domains that cannot stay behind, and moves them --together', async () => {
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

  it('says with whom it is still shared, and when the account has more domains than its plan allows', async () => {
    const eve = await newAccount(database.db, 'eve@shop.example');
    const { rows } = await sql<{ id: number }>`select id from domains`.execute(database.db);
    await saveMembership(database.db, rows[0]?.id as number, eve, 'viewer');
    await sql`update plans set max_domains = 0 where slug = 'free'`.execute(database.db);
    const { stdout } = await move('shop.com');
    await sql`update plans set max_domains = 100 where slug = 'free'`.execute(database.db);
    expect(stdout).toContain('\n  shop.com is still shared with one account\n');
    expect(stdout).toContain('\n  bob@shop.example has more domains now (1) than its plan allows (0)\n');
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
        serial: 1,
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
  ])('%s is refused', async (args, code, message) => {
    expect(await run('move', ...args)).toMatchObject({ code, stderr: expect.stringContaining(message) });
    expect(await owners()).toEqual(['shop.com. ann@shop.example']);
  });
});
