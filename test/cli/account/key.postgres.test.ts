import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { addKeyCommands } from '../../../src/cli/account/key.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { createApiKey } from '../../../src/store/accounts/api-keys.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { findApiKey } from '../../support/database/api-keys.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const database = sharedDatabase();

beforeEach(async () => {
  await createAccount(database.db, { email: 'ann@shop.example' });
});

const run = (...args: string[]) => runCommands(addKeyCommands, ['key', ...args], database.url);
const find = (text: string) => findApiKey(database.db, text);

describe('key create', () => {
  it('shows the key alone on stdout, and stores its hash', async () => {
    const { code, stdout, stderr } = await run('create', 'ann@shop.example', '--name', 'deploy');
    expect(code).toBe(0);
    expect(stdout).toMatch(/^svc_[0-9A-Za-z]{40}\n$/);
    expect(stderr).toMatch(/^key \d+ of ann@shop\.example; it is not shown again\n$/);
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
    const { rows } = await sql<{ row: string }>`select k::text as row from api_keys k`.execute(database.db);
    expect(rows[0]?.row).not.toContain(stdout.trim());
  });

  it('narrows it', async () => {
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

  it('for an unknown account exits with 1', async () => {
    expect(await run('create', 'bob@shop.example')).toEqual({
      code: 1,
      stdout: '',
      stderr: 'bob@shop.example: no such account\n',
    });
  });
});

describe('key list and key revoke', () => {
  it('show every key without its text, and revoke by id or by how it begins', async () => {
    const first = (await run('create', 'ann@shop.example', '--types', 'A,TXT')).stdout.trim();
    const second = (await run('create', 'ann@shop.example')).stdout.trim();
    const third = (await run('create', 'ann@shop.example')).stdout.trim();
    const id = (await find(second))?.credential.id as number;
    const revoked = await run('revoke', first.slice(0, 10), String(id), '999999', 'nonsense', 'svc_');
    expect(revoked).toEqual({
      code: 1,
      stdout: `revoked key ${first.slice(0, 10)}\nrevoked key ${id}\n`,
      stderr: '999999: no such key\nnonsense: no such key\nsvc_: no such key\n',
    });
    expect((await find(first))?.state).toBe('revoked');
    // As it stands in the list; a second time changes nothing.
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

  it('take no whole key as an argument, and say what to give instead, without the key', async () => {
    const key = (await run('create', 'ann@shop.example')).stdout.trim();
    const { code, stdout, stderr } = await run('revoke', key);
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      /^svc_\w{6}…: not revoked, since arguments are visible to others: give its first 10/,
    );
    expect(stderr).not.toContain(key);
    expect((await find(key))?.state).toBe('valid');
  });

  it('revoke nothing where several keys begin so', async () => {
    const key = (await run('create', 'ann@shop.example')).stdout.trim();
    const other = key.slice(0, 10) + 'x'.repeat(34);
    const { credential: found } = (await find(key)) as { credential: { id: number; accountId: number } };
    const twin = await createApiKey(database.db, other, { accountId: found.accountId, name: 'twin' });
    const prefix = key.slice(0, 10);
    expect(await run('revoke', prefix)).toEqual({
      code: 1,
      stdout: '',
      stderr: `${prefix}: several keys begin so, with the ids ${found.id}, ${twin?.id}\n`,
    });
    expect(await run('revoke', String(twin?.id))).toMatchObject({ code: 0 });
    expect(await run('revoke', prefix)).toMatchObject({ code: 0 });
    expect((await find(key))?.state).toBe('revoked');
  });
});
