// Accounts, their API keys and sign-in links, and plans.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { addAccountCommands } from '../../src/cli/account/account.ts';
import { addAuditCommand } from '../../src/cli/account/audit.ts';
import { addKeyCommands } from '../../src/cli/account/key.ts';
import { addPlanCommands } from '../../src/cli/account/plan.ts';
import { createAccount, findAccount } from '../../src/store/accounts/accounts.ts';
import { createApiKey } from '../../src/store/accounts/api-keys.ts';
import { type CataloguePlan, listPlans } from '../../src/store/accounts/plans.ts';
import { loadCredentials, makeLink, setPassword, takeLink } from '../../src/store/people/credentials.ts';
import { linkIdentity, listIdentities } from '../../src/store/people/identities.ts';
import { listSessions, openSession } from '../../src/store/people/sessions.ts';
import { confirmTotp, loadTotp, saveTotp, takeRecoveryCode } from '../../src/store/people/totp.ts';
import { publishDatabaseUrl } from '../../src/store/postgres/database-url.ts';
import { KeyBoxes } from '../../src/store/secrets/key-boxes.ts';
import { runCommands } from '../support/cli/run-commands.ts';
import { findApiKey } from '../support/database/api-keys.ts';
import { keptDatabase, sharedDatabase } from '../support/tests/shared-database.ts';

const { db, url, value } = sharedDatabase();
const run = (...args: string[]) => runCommands(addAccountCommands, ['account', ...args], url);

describe('zonefleet account', () => {
  it('account create prints the new account, and rejects an existing email in any case and an unknown plan', async () => {
    expect(await run('create', 'ann@shop.example', '--name', 'Ann', '--admin', '--plan', 'pro')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^created ann@shop\.example account \d+ plan pro admin\n$/),
      stderr: '',
    });
    expect(await findAccount(db, 'ANN@shop.example')).toMatchObject({
      name: 'Ann',
      isAdmin: true,
      active: true,
      planSlug: 'pro',
    });
    await createAccount(db, { email: 'ann@shop.example' });
    expect(await run('create', 'Ann@Shop.example')).toMatchObject({
      code: 1,
      stderr: 'an account Ann@Shop.example already exists\n',
    });
    const unknown = await run('create', 'bob@shop.example', '--plan', 'gold', '--json');
    expect(unknown).toMatchObject({ code: 1, stderr: '' });
    expect(JSON.parse(unknown.stdout)).toMatchObject({ outcome: 'refused', code: 'unknown_plan' });
    expect(await run('create', 'shop.example')).toMatchObject({ code: 2 });
  });

  it('account commands change each existing account, by email or id: its state, admin right, and plan for new domains', async () => {
    const made = await createAccount(db, { email: 'ann@shop.example' });
    const id = made.kind === 'created' ? String(made.account.id) : '';
    await createAccount(db, { email: 'bob@shop.example' });
    expect(await run('deactivate', id, 'bob@shop.example', 'nobody@shop.example')).toEqual({
      code: 1,
      stdout:
        `deactivated ann@shop.example account ${id} plan free inactive\n` +
        `deactivated bob@shop.example account ${Number(id) + 1} plan free inactive\n`,
      stderr: 'nobody@shop.example: no such account\n',
    });
    expect((await findAccount(db, id))?.active).toBe(false);
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
    await createAccount(db, { email: 'ann@shop.example' });
    expect((await run('admin', 'ann@shop.example')).stdout).toMatch(/ admin\n$/);
    expect((await findAccount(db, 'ann@shop.example'))?.isAdmin).toBe(true);
    expect((await run('admin', '--revoke', 'ann@shop.example')).code).toBe(0);
    expect((await run('plan', 'ann@shop.example', '--plan', 'none')).code).toBe(0);
    expect(await findAccount(db, 'ann@shop.example')).toMatchObject({
      isAdmin: false,
      planSlug: null,
    });
    expect(await run('plan', 'ann@shop.example', '--plan', 'gold')).toMatchObject({
      code: 1,
      stderr: 'ann@shop.example: no plan "gold"\n',
    });
  });

  it('account reseller and account provider set who manages an account, on one level only', async () => {
    for (const email of ['shop@r.test', 'ann@c.test', 'bob@c.test']) await createAccount(db, { email });
    const { id } = (await findAccount(db, 'shop@r.test')) ?? { id: 0 };
    expect(await run('provider', 'ann@c.test', '--provider', 'shop@r.test')).toMatchObject({
      code: 1,
      stderr: 'ann@c.test: the provider is not a reseller\n',
    });
    expect(await run('reseller', 'shop@r.test')).toMatchObject({
      code: 0,
      stdout: `reseller shop@r.test account ${id} plan free reseller\n`,
    });
    const set = await run('provider', 'ann@c.test', '--provider', 'shop@r.test', '--json');
    expect(JSON.parse(set.stdout).accounts).toMatchObject([
      { outcome: 'updated', provider: id, reseller: false },
    ]);
    expect((await findAccount(db, 'ann@c.test'))?.providerId).toBe(id);
    const refusals = [
      ['provider', 'shop@r.test', '--provider', 'shop@r.test', 'cannot be its own client'],
      ['reseller', 'ann@c.test', 'a client of a reseller cannot be a reseller'],
      ['reseller', 'shop@r.test', '--revoke', 'the account has clients, such as ann@c.test'],
      ['provider', 'nobody@c.test', '--provider', 'shop@r.test', 'no such account'],
    ];
    for (const refusal of refusals) {
      const { code, stderr } = await run(...refusal.slice(0, -1));
      expect([code, stderr]).toEqual([1, expect.stringContaining(refusal.at(-1) as string)]);
    }
    expect(await run('provider', 'ann@c.test', '--provider', 'x@y.test')).toMatchObject({ code: 2 });
    expect((await run('list')).stdout).toMatch(new RegExp(`client of ${id}`));
    expect((await run('provider', 'ann@c.test', '--provider', 'none')).code).toBe(0);
    expect((await run('reseller', 'shop@r.test', '--revoke')).code).toBe(0);
    expect(await findAccount(db, 'ann@c.test')).toMatchObject({
      providerId: null,
      isReseller: false,
    });
  });

  it('account list prints a table of all accounts', async () => {
    await createAccount(db, { email: 'ann@shop.example', isAdmin: true, planSlug: null });
    await createAccount(db, { email: 'bob@shop.example', name: 'Bob' });
    const { code, stdout } = await run('list');
    expect(code).toBe(0);
    expect(stdout).toMatch(
      /^ *ID +EMAIL +NAME +ROLE +STATE +PLAN +CREATED\n *\d+ +ann@shop\.example +- +admin +active +- +\S+\n *\d+ +bob@shop\.example +Bob +customer +active +free +\S+\n$/,
    );
  });
});

describe('zonefleet account lock', () => {
  const audit = (...args: string[]) => runCommands(addAuditCommand, ['audit', ...args], url);
  let id: number;

  beforeEach(async () => {
    const made = await createAccount(db, { email: 'ann@shop.example' });
    id = made.kind === 'created' ? made.account.id : 0;
  });

  it('removes every way in, and leaves other accounts alone', async () => {
    const made = await createAccount(db, { email: 'bob@shop.example' });
    const bob = made.kind === 'created' ? made.account.id : 0;
    for (const accountId of [id, bob]) {
      await setPassword(db, accountId, 'a hash');
      await openSession(db, { accountId, carrier: 'cookie', address: '192.0.2.1', userAgent: undefined });
      await createApiKey(db, `svc_${String(accountId).padStart(40, 'x')}`, { name: 'deploy', accountId });
      const identity = { issuer: 'https://id.example', subject: `person ${accountId}`, email: null };
      await linkIdentity(db, { accountId, ...identity });
    }
    const link = await makeLink(db, { kind: 'sign-in', accountId: id });
    expect(await run('lock', 'ann@shop.example')).toEqual({
      code: 0,
      stdout: `locked ann@shop.example account ${id} sessions 1 keys 1 tokens 0\n`,
      stderr: '',
    });
    expect(await takeLink(db, 'sign-in', link)).toBeUndefined();
    expect(await loadCredentials(db, { accountId: id })).toMatchObject({
      account: { active: false },
      passwordHash: null,
    });
    expect((await findApiKey(db, `svc_${String(id).padStart(40, 'x')}`))?.state).toBe('revoked');
    expect(await listSessions(db, id)).toEqual([]);
    expect(await loadCredentials(db, { accountId: bob })).toMatchObject({
      account: { active: true },
      passwordHash: 'a hash',
    });
    expect((await findApiKey(db, `svc_${String(bob).padStart(40, 'x')}`))?.state).toBe('valid');
    expect(await listSessions(db, bob)).toHaveLength(1);
    expect([await listIdentities(db, id), await listIdentities(db, bob)]).toMatchObject([[], [{}]]);
    const listed = await audit('--about', 'ann@shop.example', '--since', '1h');
    expect(listed.stdout).toMatch(/account\.update.*"active":true.*"active":false/);
    expect(listed.stdout).toMatch(/key\.revoke.*deploy/);
    expect(listed.stdout).toMatch(new RegExp(`identity\\.unlink.*person ${id}`));
    const { entries } = JSON.parse((await audit('--about', String(bob), '--json')).stdout);
    expect(entries).toEqual([]);
  });

  it('account otp-reset turns two-step sign-in off and ends the sessions of this account only', async () => {
    const made = await createAccount(db, { email: 'bob@shop.example' });
    const bob = made.kind === 'created' ? made.account.id : 0;
    const boxes = new KeyBoxes([{ name: 'k1', secret: Buffer.alloc(32, 7) }]);
    for (const accountId of [id, bob]) {
      await saveTotp(
        db,
        accountId,
        await boxes.seal(db, ['totp', String(accountId)], Buffer.from('a secret')),
      );
      await confirmTotp(db, accountId, [Buffer.alloc(32, accountId)]);
      await openSession(db, { accountId, carrier: 'cookie', address: '192.0.2.1', userAgent: undefined });
    }
    const stdout = 'reset ann@shop.example\n';
    expect(await run('otp-reset', 'ann@shop.example')).toEqual({ code: 0, stdout, stderr: '' });
    expect(await loadTotp(db, id)).toBeUndefined();
    expect(await takeRecoveryCode(db, id, Buffer.alloc(32, id))).toBe(false);
    expect(await listSessions(db, id)).toEqual([]);
    expect(await loadTotp(db, bob)).toMatchObject({ isConfirmed: true });
    expect(await listSessions(db, bob)).toHaveLength(1);
    const stderr = 'ann@shop.example: two-step sign-in is off\n';
    expect(await run('otp-reset', 'ann@shop.example')).toEqual({ code: 1, stdout: '', stderr });
    const { entries } = JSON.parse((await audit('--action', 'account.disable_otp', '--json')).stdout);
    expect(entries).toMatchObject([{ target: 'ann@shop.example' }]);
  });

  it('account email replaces the address, unless another account has it', async () => {
    await createAccount(db, { email: 'bob@shop.example' });
    expect(await run('email', String(id), ' ann@new.example ')).toMatchObject({
      code: 0,
      stdout: 'updated ann@new.example\n',
    });
    expect(await run('email', String(id), 'bob@shop.example')).toMatchObject({
      code: 1,
      stderr: `${id}: another account has this email\n`,
    });
    expect(await run('email', String(id), 'bob')).toMatchObject({ code: 2 });
    expect(JSON.parse((await audit('--action', 'account.update', '--json')).stdout).entries).toMatchObject([
      { before: { email: 'ann@shop.example' }, after: { email: 'ann@new.example' } },
    ]);
  });

  it.each([
    [['--limit', '0'], '--limit: expected a number from 1 to 10000'],
    [['--since', 'today'], '--since: expected a time such as 90m, 24h or 14d'],
    [['--action', 'key.make'], '--action: no action "key.make"'],
    [['--by', 'eve@shop.example'], '--by: no account "eve@shop.example"'],
  ])('audit %j is refused: %s', async (args, message) => {
    expect(await audit(...args)).toMatchObject({ code: 2, stderr: `zonefleet: ${message}\n` });
  });
});

describe('zonefleet key', () => {
  beforeEach(() => createAccount(db, { email: 'ann@shop.example' }));

  const run = (...args: string[]) => runCommands(addKeyCommands, ['key', ...args], url);
  const find = (text: string) => findApiKey(db, text);

  describe('key create', () => {
    it('prints only the key on stdout and stores its hash; exits with 1 for an unknown account', async () => {
      const { code, stdout, stderr } = await run('create', 'ann@shop.example', '--name', 'deploy');
      expect(code).toBe(0);
      expect(stdout).toMatch(/^svc_[0-9A-Za-z]{40}\n$/);
      expect(stderr).toMatch(/^key \d+ of ann@shop\.example; it will not be shown again\n$/);
      expect(await find(stdout.trim())).toMatchObject({
        state: 'valid',
        account: { email: 'ann@shop.example' },
        credential: {
          name: 'deploy',
          readOnly: false,
          domains: null,
          names: null,
          types: null,
          expiresAt: null,
        },
      });
      expect(await value<string>`select k::text as row from api_keys k`).not.toContain(stdout.trim());
      expect(await run('create', 'bob@shop.example')).toEqual({
        code: 1,
        stdout: '',
        stderr: 'bob@shop.example: no such account\n',
      });
    });

    it('restricts the key', async () => {
      const options = ['--read-only', '--expires', '90d', '--domains', 'Shop.example.,münchen.de'];
      const { code, stdout } = await run(
        'create',
        'ann@shop.example',
        ...options,
        '--names',
        '_acme-challenge.shop.example',
        '--types',
        'txt',
        '--json',
      );
      expect(code).toBe(0);
      const told = JSON.parse(stdout);
      expect(told).toMatchObject({ read_only: true, state: 'valid', account: { email: 'ann@shop.example' } });
      const key = (await find(told.key))?.credential;
      expect(key).toMatchObject({
        readOnly: true,
        domains: ['shop.example', 'xn--mnchen-3ya.de'],
        names: ['_acme-challenge.shop.example'],
        types: ['TXT'],
      });
      expect(((key?.expiresAt?.getTime() ?? 0) - Date.now()) / 86_400_000).toBeCloseTo(90, 1);
    });
  });

  describe('key list and key revoke', () => {
    it('print every key without its secret, and revoke by id or prefix', async () => {
      const first = (await run('create', 'ann@shop.example', '--types', 'A,TXT')).stdout.trim();
      const second = (await run('create', 'ann@shop.example')).stdout.trim();
      const third = (await run('create', 'ann@shop.example')).stdout.trim();
      const id = (await find(second))?.credential.id as number;
      expect(await run('revoke', first.slice(0, 10), String(id), '999999', 'nonsense', 'svc_')).toEqual({
        code: 1,
        stdout: `revoked key ${first.slice(0, 10)}\nrevoked key ${id}\n`,
        stderr: '999999: no such key\nnonsense: no such key\nsvc_: no such key\n',
      });
      expect((await find(first))?.state).toBe('revoked');
      // By the prefix in the list. A second revocation changes nothing.
      expect(await run('revoke', `${first.slice(0, 10)}…`)).toMatchObject({ code: 0 });
      const { stdout } = await run('list', 'ann@shop.example');
      const [heads = '', ...rows] = stdout.trimEnd().split('\n');
      expect(heads).toMatch(/^ *ID +KEY +ACCOUNT +NAME +STATE +SCOPE +EXPIRES +USED$/);
      expect(rows.map((row) => row.trim().split(/ {2,}/).slice(1, 6))).toEqual([
        [`${first.slice(0, 10)}…`, 'ann@shop.example', 'unnamed', 'revoked', 'A,TXT'],
        [`${second.slice(0, 10)}…`, 'ann@shop.example', 'unnamed', 'revoked', 'all'],
        [`${third.slice(0, 10)}…`, 'ann@shop.example', 'unnamed', 'valid', 'all'],
      ]);
      for (const text of [first, second, third]) expect(stdout).not.toContain(text);
    });

    it('reject a complete key as an argument, and revoke nothing if a prefix is ambiguous', async () => {
      const key = (await run('create', 'ann@shop.example')).stdout.trim();
      const { code, stdout, stderr } = await run('revoke', key);
      expect([code, stdout]).toEqual([1, '']);
      expect(stderr).toMatch(/^svc_\w{6}…: not revoked: other users can see arguments. Give its first 10/);
      expect(stderr).not.toContain(key);
      expect((await find(key))?.state).toBe('valid');
      const own = (await run('create', 'ann@shop.example')).stdout.trim();
      const other = own.slice(0, 10) + 'x'.repeat(34);
      const { credential: found } = (await find(own)) as { credential: { id: number; accountId: number } };
      const twin = await createApiKey(db, other, { accountId: found.accountId, name: 'twin' });
      const prefix = own.slice(0, 10);
      expect(await run('revoke', prefix)).toEqual({
        code: 1,
        stdout: '',
        stderr: `${prefix}: several keys begin so, with the ids ${found.id}, ${twin?.id}\n`,
      });
      expect(await run('revoke', String(twin?.id))).toMatchObject({ code: 0 });
      expect(await run('revoke', prefix)).toMatchObject({ code: 0 });
      expect((await find(own))?.state).toBe('revoked');
    });
  });
});

describe('plan', () => {
  const { db, url } = keptDatabase();

  const run = (...args: string[]) => runCommands(addPlanCommands, ['plan', ...args], url);
  const planOf = async (slug: string) => (await listPlans(db)).find((plan) => plan.slug === slug);

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

  it('creates an empty plan, or a copy of the plan free, and sets fields', async () => {
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
      stderr: 'a plan "team" already exists\n',
    });
    expect(await run('create', 'basic')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('created plan basic '),
    });
    const { id, slug, terms, ...free } = (await planOf('free')) as CataloguePlan;
    expect(await planOf('basic')).toMatchObject({ ...free, name: 'basic', terms: [] });
    expect((await run('create', 'small', 'max_records=9')).code).toBe(0);
    expect(await planOf('small')).toMatchObject({
      name: 'small',
      maxRecords: 9,
      maxTrafficGb: 0,
      terms: [],
    });
    const set = await run('set', 'team', 'max_records=10', 'logs_enabled=true', '--name', 'Group', '--json');
    expect(JSON.parse(set.stdout)).toMatchObject({ outcome: 'updated', name: 'Group', max_records: 10 });
    expect(await planOf('team')).toMatchObject({ maxRecords: 10, logsEnabled: true, wsEnabled: true });
    expect(await run('set', 'gold', 'max_records=1')).toMatchObject({
      code: 1,
      stderr: 'no plan "gold"\n',
    });
  });

  it.each([
    [['set', 'team'], 'expected --name or FIELD=VALUE'],
    [['set', 'team', 'max_records'], '"max_records": expected FIELD=VALUE'],
    [['set', 'team', 'max_records=-1'], 'max_records: expected a whole number from 0'],
    [['set', 'team', 'max_cache_cap_mb=none'], 'max_cache_cap_mb: expected a whole number'],
    [['set', 'team', 'ws_enabled=1'], 'ws_enabled: expected true or false'],
    [['set', 'team', 'slug=x'], 'slug: is not an entitlement: expected one of max_records'],
    [['set', 'team', 'quota_reset_days=none'], 'quota_reset_days: expected a whole number'],
    [['create', 'Team', '--name', 'x'], '"Team": expected a plan of lowercase letters'],
    [['create', 'none', '--name', 'x'], '"none": expected a plan of lowercase letters'],
    [['term', 'team', '--days', '30'], 'expected --days and --price'],
    [['term', 'team', '--days', '0', '--price', '5'], '--days: expected a whole number from 1 to 3660'],
    [['term', 'team', '--days', '3', '--price', '1.5'], '--price: expected a whole number'],
  ])('%s is a usage error', async (args, message) => {
    expect(await run(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(message) });
  });

  it('adds and retires terms', async () => {
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

describe('a sign-in link', () => {
  beforeEach(() => createAccount(db, { email: 'Ann@shop.example' }));

  it.each([
    ['sign-in', 'sign-in'],
    ['reset', 'reset'],
  ] as const)('account %s prints a link that works once, and nothing else on stdout', async (command, kind) => {
    const { code, stdout, stderr } = await run(command, 'ann@shop.example');
    const [, page, token = ''] =
      /^https:\/\/dns\.zonefleet\.test\/console\/#([\w-]+)=(lnk_\w{43})\n$/.exec(stdout) ?? [];
    expect([code, page]).toEqual([0, kind]);
    expect(stderr).toMatch(/^for Ann@shop\.example: the link works once(,| and) expires after \d+ minutes/);
    expect(stderr).not.toContain(token);
    expect(await takeLink(db, kind === 'reset' ? 'sign-in' : 'reset', token)).toBeUndefined();
    expect(await takeLink(db, kind, token)).toMatchObject({ accountId: expect.any(Number) });
    expect(await takeLink(db, kind, token)).toBeUndefined();
  });

  it('a link uses the address of the npm start that owns the database, unless PUBLIC_URL is set; an unknown account gets none', async () => {
    const dataDirectory = mkdtempSync(join(tmpdir(), 'zf-link-'));
    publishDatabaseUrl(dataDirectory, url, dataDirectory, { publicUrl: 'http://127.0.0.1:9000' });
    const linked = async (publicUrlIsDefault: boolean) => {
      const args = ['account', 'sign-in', 'ann@shop.example'];
      const settings = { dataDirectory, publicUrlIsDefault };
      return new URL((await runCommands(addAccountCommands, args, undefined, settings)).stdout).origin;
    };
    try {
      expect(await linked(true)).toBe('http://127.0.0.1:9000');
      expect(await linked(false)).toBe('https://dns.zonefleet.test');
    } finally {
      rmSync(dataDirectory, { recursive: true });
    }
    expect(await run('sign-in', 'bob@shop.example')).toMatchObject({ code: 1, stdout: '' });
    const { code, stdout } = await run('sign-in', 'ann@shop.example', '--json');
    expect([code, Object.keys(JSON.parse(stdout))]).toEqual([0, ['account', 'link', 'token']]);
  });
});
