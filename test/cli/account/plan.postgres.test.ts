import { describe, expect, it } from 'vitest';
import { addAccountCommands } from '../../../src/cli/account/account.ts';
import { addPlanCommands } from '../../../src/cli/account/plan.ts';
import { createAccount, findAccount } from '../../../src/store/accounts/accounts.ts';
import { listPlans } from '../../../src/store/accounts/plans.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const database = keptDatabase();

const run = (...args: string[]) => runCommands(addPlanCommands, ['plan', ...args], database.url);
const planOf = async (slug: string) => (await listPlans(database.db)).find((plan) => plan.slug === slug);

describe('plan', () => {
  it('lists plans with their terms', async () => {
    const { code, stdout } = await run('list');
    expect([code, stdout]).toEqual([
      0,
      expect.stringMatching(/FIELD +FREE +PRO[\s\S]*max_records +200 +none/),
    ]);
    expect(stdout).toContain('free: term 1, 30 days, 0 rials\n');
    expect(JSON.parse((await run('list', '--json')).stdout).plans).toMatchObject([
      { slug: 'free', max_domains: 100, terms: [{ id: 1, billing_duration_days: 30, price_rials: 0 }] },
      { slug: 'pro', max_records: null, terms: [] },
    ]);
  });

  it('creates one in which nothing is included that is not set', async () => {
    const made = await run(
      'create',
      'team',
      'max_records=none',
      'max_domains=5',
      'ws_enabled=true',
      '--name',
      'Team',
    );
    expect(made).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^created plan team max_records=none .*ws_enabled=true .*max_domains=5/),
    });
    expect(await planOf('team')).toMatchObject({
      name: 'Team',
      maxRecords: null,
      maxDomains: 5,
      maxTrafficGb: 0,
      wsEnabled: true,
      logsEnabled: false,
      quotaResetDays: 30,
    });
    expect(await run('create', 'team', '--name', 'x')).toMatchObject({
      code: 1,
      stderr: 'there is a plan "team" already\n',
    });
  });

  it('sets fields of one', async () => {
    const set = await run('set', 'team', 'max_records=10', 'logs_enabled=true', '--name', 'Group', '--json');
    expect(JSON.parse(set.stdout)).toMatchObject({ outcome: 'updated', name: 'Group', max_records: 10 });
    expect(await planOf('team')).toMatchObject({ maxRecords: 10, logsEnabled: true, wsEnabled: true });
    expect(await run('set', 'gold', 'max_records=1')).toMatchObject({
      code: 1,
      stderr: 'there is no plan "gold"\n',
    });
  });

  it.each([
    [['set', 'team'], 'expected --name or FIELD=VALUE'],
    [['set', 'team', 'max_records'], '"max_records": expected FIELD=VALUE'],
    [['set', 'team', 'max_records=-1'], 'max_records: expected a whole number from 0'],
    [['set', 'team', 'max_cache_cap_mb=none'], 'max_cache_cap_mb: expected a whole number'],
    [['set', 'team', 'ws_enabled=1'], 'ws_enabled: expected true or false'],
    [['set', 'team', 'slug=x'], 'slug: is no entitlement: expected one of max_records'],
    [['set', 'team', 'quota_reset_days=none'], 'quota_reset_days: expected a whole number'],
    [['create', 'Team', '--name', 'x'], '"Team": expected a plan as small letters'],
    [['create', 'none', '--name', 'x'], '"none": expected a plan as small letters'],
    [['term', 'team', '--days', '30'], 'expected --days and --price'],
    [['term', 'team', '--days', '0', '--price', '5'], '--days: expected a whole number from 1 to 3660'],
    [['term', 'team', '--days', '3', '--price', '1.5'], '--price: expected a whole number'],
  ])('%s is wrong usage', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('adds terms, and retires them', async () => {
    const added = await run('term', 'team', '--days', '365', '--price', '9000000', '--json');
    const [{ id }] = JSON.parse(added.stdout).terms;
    expect(await run('term', 'free', '--retire', String(id))).toMatchObject({
      code: 1,
      stderr: `the plan "free" has no term ${id}\n`,
    });
    expect(await run('term', 'team', '--retire', String(id))).toMatchObject({
      code: 0,
      stdout: expect.stringContaining(`term ${id}: 365 days, 9000000 rials (retired)`),
    });
    expect((await planOf('team'))?.terms).toEqual([
      { id, days: 365, priceRials: 9_000_000, isRetired: true },
    ]);
    expect(await run('term', 'gold', '--days', '1', '--price', '0')).toMatchObject({ code: 1 });
  });
});

describe('account reseller and provider', () => {
  const account = (...args: string[]) => runCommands(addAccountCommands, ['account', ...args], database.url);

  it('say who manages whom, on one level', async () => {
    for (const email of ['shop@r.test', 'ann@c.test', 'bob@c.test'])
      await createAccount(database.db, { email });
    const { id } = (await findAccount(database.db, 'shop@r.test')) ?? { id: 0 };
    expect(await account('provider', 'ann@c.test', '--provider', 'shop@r.test')).toMatchObject({
      code: 1,
      stderr: 'ann@c.test: the provider is no reseller\n',
    });
    expect(await account('reseller', 'shop@r.test')).toMatchObject({
      code: 0,
      stdout: `reseller shop@r.test account ${id} plan free reseller\n`,
    });
    const set = await account('provider', 'ann@c.test', '--provider', 'shop@r.test', '--json');
    expect(JSON.parse(set.stdout).accounts).toMatchObject([
      { outcome: 'updated', provider: id, reseller: false },
    ]);
    expect((await findAccount(database.db, 'ann@c.test'))?.providerId).toBe(id);
    const refusals = [
      ['provider', 'shop@r.test', '--provider', 'shop@r.test', 'cannot be its own client'],
      ['reseller', 'ann@c.test', 'the client of a reseller can be no reseller'],
      ['reseller', 'shop@r.test', '--revoke', 'it has clients, as ann@c.test'],
      ['provider', 'nobody@c.test', '--provider', 'shop@r.test', 'no such account'],
    ];
    for (const refusal of refusals) {
      const { code, stderr } = await account(...refusal.slice(0, -1));
      expect([code, stderr]).toEqual([1, expect.stringContaining(refusal.at(-1) as string)]);
    }
    expect(await account('provider', 'ann@c.test', '--provider', 'x@y.test')).toMatchObject({ code: 2 });
    expect((await account('list')).stdout).toMatch(new RegExp(`client of ${id}`));
    expect((await account('provider', 'ann@c.test', '--provider', 'none')).code).toBe(0);
    expect((await account('reseller', 'shop@r.test', '--revoke')).code).toBe(0);
    expect(await findAccount(database.db, 'ann@c.test')).toMatchObject({
      providerId: null,
      isReseller: false,
    });
  });
});
