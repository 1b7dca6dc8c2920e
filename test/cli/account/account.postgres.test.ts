import { describe, expect, it } from 'vitest';
import { addAccountCommands } from '../../../src/cli/account/account.ts';
import { createAccount, findAccount } from '../../../src/store/accounts/accounts.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

const run = (...args: string[]) => runCommands(addAccountCommands, ['account', ...args], database.url);

describe('account create', () => {
  it('says what it made', async () => {
    const made = await run('create', 'ann@shop.example', '--name', 'Ann', '--admin', '--plan', 'pro');
    expect(made).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^created ann@shop\.example account \d+ plan pro admin\n$/),
      stderr: '',
    });
    expect(await findAccount(database.db, 'ANN@shop.example')).toMatchObject({
      name: 'Ann',
      isAdmin: true,
      active: true,
      planSlug: 'pro',
    });
  });

  it('refuses an email that has an account, in whatever case, and a plan that is none', async () => {
    await createAccount(database.db, { email: 'ann@shop.example' });
    expect(await run('create', 'Ann@Shop.example')).toMatchObject({
      code: 1,
      stderr: 'there is an account Ann@Shop.example already\n',
    });
    const unknown = await run('create', 'bob@shop.example', '--plan', 'gold', '--json');
    expect(unknown).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(unknown.stdout)).toMatchObject({ outcome: 'refused', code: 'unknown_plan' });
    expect(await run('create', 'shop.example')).toMatchObject({ code: 2 });
  });
});

describe('changes of accounts', () => {
  it('are made for each that is there, by email or id', async () => {
    const made = await createAccount(database.db, { email: 'ann@shop.example' });
    const id = made.kind === 'created' ? String(made.account.id) : '';
    await createAccount(database.db, { email: 'bob@shop.example' });
    expect(await run('deactivate', id, 'bob@shop.example', 'nobody@shop.example')).toEqual({
      code: 1,
      stdout:
        `deactivated ann@shop.example account ${id} plan free inactive\n` +
        `deactivated bob@shop.example account ${Number(id) + 1} plan free inactive\n`,
      stderr: 'nobody@shop.example: no such account\n',
    });
    expect((await findAccount(database.db, id))?.active).toBe(false);
    const active = await run('activate', 'ann@shop.example', '--json');
    expect(active.code).toBe(0);
    expect(JSON.parse(active.stdout).accounts).toEqual([
      {
        account: 'ann@shop.example',
        outcome: 'activated',
        id: Number(id),
        email: 'ann@shop.example',
        name: null,
        admin: false,
        reseller: false,
        provider: null,
        active: true,
        plan: 'free',
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
  });

  it('make and unmake global admins, and set the plan of domains to come', async () => {
    await createAccount(database.db, { email: 'ann@shop.example' });
    expect((await run('admin', 'ann@shop.example')).stdout).toMatch(/ admin\n$/);
    expect((await findAccount(database.db, 'ann@shop.example'))?.isAdmin).toBe(true);
    expect((await run('admin', '--revoke', 'ann@shop.example')).code).toBe(0);
    expect((await run('plan', 'ann@shop.example', '--plan', 'none')).code).toBe(0);
    expect(await findAccount(database.db, 'ann@shop.example')).toMatchObject({
      isAdmin: false,
      planSlug: null,
    });
    expect(await run('plan', 'ann@shop.example', '--plan', 'gold')).toMatchObject({
      code: 1,
      stderr: 'ann@shop.example: there is no plan "gold"\n',
    });
  });
});

it('account list is a table of all', async () => {
  await createAccount(database.db, { email: 'ann@shop.example', isAdmin: true, planSlug: null });
  await createAccount(database.db, { email: 'bob@shop.example', name: 'Bob' });
  const { code, stdout } = await run('list');
  expect(code).toBe(0);
  expect(stdout).toMatch(
    /^ *ID +EMAIL +NAME +ROLE +STATE +PLAN +CREATED\n *\d+ +ann@shop\.example +- +admin +active +- +\S+\n *\d+ +bob@shop\.example +Bob +customer +active +free +\S+\n$/,
  );
});
