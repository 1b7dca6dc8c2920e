import { beforeAll, describe, expect, it } from 'vitest';
import { addAccountCommands } from '../../../src/cli/account/account.ts';
import { addDomainCommands } from '../../../src/cli/domain/domain.ts';
import { acceptInvite } from '../../../src/store/sharing/accept-invite.ts';
import { findInvite } from '../../../src/store/sharing/invite-tokens.ts';
import { listMembers } from '../../../src/store/sharing/members.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

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
const runAccount = (...args: string[]) => runCommands(addAccountCommands, ['account', ...args], database.url);
const roles = async () =>
  Object.fromEntries((await listMembers(database.db, domainId)).map(({ email, role }) => [email, role]));

describe('domain share', () => {
  it('gives a role at once, also a lower one, and unshare takes it', async () => {
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
    [['share', 'shop.test', 'nobody@shop.example', '--role', 'viewer'], 1, 'there is no account'],
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

  it('wants to know whose domain is meant, where two have one of this name', async () => {
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

describe('domain invite', () => {
  it('prints a link, and nothing else on stdout, which also begins an account', async () => {
    const args = ['shop.test', 'Dan@shop.example', '--role', 'editor', '--account', 'ann@shop.example'];
    const { code, stdout, stderr } = await run('invite', ...args);
    const [, token = ''] =
      /^https:\/\/dns\.zonefleet\.test\/console\/#invite=(inv_\w{43})\n$/.exec(stdout) ?? [];
    expect([code, stderr]).toEqual([0, 'for Dan@shop.example, as editor: it works once, within 7 days\n']);
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
});

it('account reseller and account provider make the reseller an admin of what its client has', async () => {
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
