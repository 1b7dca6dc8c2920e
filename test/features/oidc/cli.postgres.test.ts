import { randomBytes } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it } from 'vitest';
import { addIdentityCommands } from '../../../src/features/oidc/cli.ts';
import { listIdentities } from '../../../src/store/people/identities.ts';
import { lockOut } from '../../../src/store/people/lock-out.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { newAccount } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url, query } = keptDatabase();
const run = (...args: string[]) => runCommands(addIdentityCommands, ['identity', ...args], url);
const pause = () => new Promise((resolve) => setTimeout(resolve, 5));
const ISSUER = ['--issuer', 'https://id.test'];

it('links, lists and removes identities with audit rows, and ends the sessions', async () => {
  const accountId = await newAccount(db, 'ann@shop.test');
  await newAccount(db, 'bob@shop.test');
  await openSession(db, { accountId, carrier: 'cookie', address: '192.0.2.1', userAgent: undefined });
  expect(await run('link', 'ann@shop.test', 'sub-1', ...ISSUER)).toMatchObject({
    code: 0,
    stdout: 'linked ann@shop.test\n',
  });
  const taken = await run('link', 'bob@shop.test', 'sub-1', ...ISSUER);
  expect([taken.code, taken.stderr]).toEqual([1, expect.stringMatching(/^bob@shop.test: .* already linked/)]);
  expect((await run('link', 'ann@shop.test', 'sub-2', ...ISSUER)).code).toBe(1);
  expect(JSON.parse((await run('list', 'ann@shop.test', '--json')).stdout).identities).toMatchObject([
    { issuer: 'https://id.test', subject: 'sub-1', email: null, usedAt: null },
  ]);
  expect((await run('list', 'ann@shop.test')).stdout).toContain('sub-1');
  expect((await run('remove', 'ann@shop.test')).stdout).toBe('removed ann@shop.test\n');
  expect((await run('remove', 'ann@shop.test')).code).toBe(1);
  expect(await query`select from sessions`).toEqual([]);
  expect(await query`select action, target_name from audit_log order by id`).toEqual([
    { action: 'identity.link', target_name: 'ann@shop.test' },
    { action: 'identity.unlink', target_name: 'ann@shop.test' },
  ]);
});

it('does not link an identity to an account that is locked meanwhile', async () => {
  const accountId = await newAccount(db, 'hal@shop.test');
  const isWaiting = () => query`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  const linking = await db.transaction().execute(async (trx) => {
    await lockOut(trx, accountId);
    const running = run('link', 'hal@shop.test', 'sub-4', ...ISSUER);
    while ((await isWaiting()).length === 0) await pause();
    return { running };
  });
  expect(await linking.running).toMatchObject({
    code: 1,
    stderr: 'hal@shop.test: the account is inactive: activate it first\n',
  });
  expect(await listIdentities(db, accountId)).toEqual([]);
});

it('rejects a link without an issuer, claims that are too long, and unknown accounts', async () => {
  await newAccount(db, 'eve@shop.test');
  expect(await run('link', 'eve@shop.test', 'sub-3')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('set OIDC_ISSUER, or give --issuer'),
  });
  expect(await run('link', 'eve@shop.test', 'x'.repeat(1001), ...ISSUER)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('sub: expected 1 to 1000 bytes without control characters'),
  });
  // The longest claims fit into the index.
  const longest = () => randomBytes(500).toString('hex');
  expect((await run('link', 'eve@shop.test', longest(), '--issuer', longest())).code).toBe(0);
  for (const command of [['list'], ['remove'], ['link', 'x', ...ISSUER]]) {
    const [name = '', ...rest] = command;
    expect((await run(name, 'nobody@shop.test', ...rest)).code).toBe(1);
  }
});

it('rejects an OIDC_ISSUER that differs from the issuer of the provider', async () => {
  const server = createServer((_, response) =>
    response.setHeader('Content-Type', 'application/json').end('{"issuer":"https://id.test/realms/staff"}'),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const oidcIssuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const link = ['identity', 'link', 'ann@shop.test', 'sub-3'];
  expect(await runCommands(addIdentityCommands, link, url, { oidcIssuer })).toMatchObject({
    code: 2,
    stderr: expect.stringMatching(/OIDC_ISSUER: .* \(its issuer is "https:\/\/id\.test\/realms\/staff"\)/),
  });
  server.close();
});
