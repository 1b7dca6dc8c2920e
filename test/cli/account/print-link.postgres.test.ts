import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { addAccountCommands } from '../../../src/cli/account/account.ts';
import { createAccount } from '../../../src/store/accounts/accounts.ts';
import { takeLink } from '../../../src/store/people/account-links.ts';
import { publishDatabaseUrl } from '../../../src/store/postgres/database-url.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const database = keptDatabase();
beforeAll(async () => {
  await createAccount(database.db, { email: 'Ann@shop.example' });
});

const run = (...args: string[]) => runCommands(addAccountCommands, ['account', ...args], database.url);

it.each([
  ['sign-in', 'sign-in'],
  ['reset', 'reset'],
] as const)('account %s prints a link that works once, and nothing else on stdout', async (command, kind) => {
  const { code, stdout, stderr } = await run(command, 'ann@shop.example');
  const [, page, token = ''] =
    /^https:\/\/dns\.zonefleet\.test\/console\/#([\w-]+)=(lnk_\w{43})\n$/.exec(stdout) ?? [];
  expect([code, page]).toEqual([0, kind]);
  expect(stderr).toMatch(/^for Ann@shop\.example: it works once, within \d+ minutes/);
  expect(stderr).not.toContain(token);
  expect(await takeLink(database.db, kind === 'reset' ? 'sign-in' : 'reset', token)).toBeUndefined();
  expect(await takeLink(database.db, kind, token)).toMatchObject({ accountId: expect.any(Number) });
  expect(await takeLink(database.db, kind, token)).toBeUndefined();
});

it('account sign-in of nobody says so', async () => {
  expect(await run('sign-in', 'bob@shop.example')).toMatchObject({ code: 1, stdout: '' });
  const { code, stdout } = await run('sign-in', 'ann@shop.example', '--json');
  expect([code, Object.keys(JSON.parse(stdout))]).toEqual([0, ['account', 'link', 'token']]);
});

it('a link leads to the npm start whose database it is, unless PUBLIC_URL is set', async () => {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'zf-link-'));
  publishDatabaseUrl(dataDirectory, database.url, dataDirectory, { publicUrl: 'http://127.0.0.1:9000' });
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
});
