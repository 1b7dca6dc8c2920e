import { beforeAll, expect, it } from 'vitest';
import { addResellerCommands } from '../../../src/features/resellers/cli.ts';
import { setProvider, setReseller } from '../../../src/store/accounts/accounts.ts';
import { hashSecret } from '../../../src/store/accounts/hashed-secrets.ts';
import { findTokens, mintToken } from '../../../src/store/accounts/reseller-tokens.ts';
import { runCommands } from '../../support/cli/run-commands.ts';
import { auditAfter, lastAudit } from '../../support/database/audit-rows.ts';
import { newAccount, newDomain } from '../../support/database/domains.ts';
import { keptDatabase } from '../../support/tests/shared-database.ts';

const { db, url } = keptDatabase();
let resellerId: number;
let token: { readonly id: number; readonly keyId: string; readonly text: string };
beforeAll(async () => {
  resellerId = await newAccount(db, 'shop@resale.test');
  await newAccount(db, 'plain@resale.test');
  await setReseller(db, resellerId, true);
  for (const name of ['b', 'a']) {
    const clientId = await newAccount(db, `${name}@client.test`);
    await setProvider(db, clientId, resellerId);
    await newDomain(db, clientId, `${name}.test.`);
  }
  const minted = await mintToken(db, { accountId: resellerId, name: 'billing', expiresAt: null }, 5);
  if (minted === undefined) throw new Error('no token was made');
  token = { ...minted.token, text: minted.text };
});

const run = (...args: string[]) => runCommands(addResellerCommands, ['reseller', ...args], url);
const json = async (...args: string[]) => JSON.parse((await run(...args, '--json')).stdout);

it('lists only resellers, with their clients and balances', async () => {
  expect(await json('list')).toEqual({
    resellers: [
      {
        id: resellerId,
        email: 'shop@resale.test',
        active: true,
        clients: 2,
        balance_rials: 0,
        negative_since: null,
        suspended_at: null,
      },
    ],
  });
  expect((await run('list')).stdout).toContain('shop@resale.test');
});

it('lists the clients of a reseller by email, and those after an email', async () => {
  const { clients } = await json('clients', 'shop@resale.test');
  const common = { id: expect.any(Number), active: true, domains: 1, balance_rials: 0 };
  expect(clients).toEqual([
    { ...common, email: 'a@client.test' },
    { ...common, email: 'b@client.test' },
  ]);
  const behind = await json('clients', String(resellerId), '--after', 'a@client.test');
  expect(behind.clients).toEqual([clients[1]]);
  const absent = await run('clients', 'nobody@resale.test');
  expect([absent.code, absent.stderr]).toEqual([1, 'nobody@resale.test: no such account\n']);
});

it('shows tokens without their secret, and revokes a token once, with an audit row', async () => {
  const shown = await run('tokens', 'shop@resale.test', '--json');
  expect(JSON.parse(shown.stdout).tokens).toMatchObject([
    { id: token.id, key_id: token.keyId, status: 'active' },
  ]);
  expect(shown.stdout).not.toContain(token.text.slice(-20));
  const before = await lastAudit(db);
  const revoked = await run('revoke', 'shop@resale.test', String(token.id));
  expect([revoked.code, revoked.stdout]).toEqual([
    0,
    `revoked billing (${token.keyId}) of shop@resale.test\n`,
  ]);
  expect(await auditAfter(db, before)).toMatchObject([{ action: 'token.revoke' }]);
  const hash = hashSecret(token.text);
  expect((await findTokens(db, [hash])).get(hash.toString('hex'))?.state).toBe('revoked');
  const again = await run('revoke', 'shop@resale.test', String(token.id));
  expect([again.code, again.stderr]).toEqual([1, `shop@resale.test: no active token ${token.id}\n`]);
  expect((await run('revoke', 'shop@resale.test', 'x')).code).toBe(2);
});
