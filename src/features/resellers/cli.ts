// `zonefleet reseller …`.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { withAccount } from '../../cli/terminal/find-account.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import type { Account } from '../../store/accounts/accounts.ts';
import type { Database } from '../../store/postgres/database.ts';

const MOST_LISTED = 1000;

export function addResellerCommands(program: Command, cli: Cli): void {
  const reseller = commandOf(program, 'reseller');
  reseller
    .command('list')
    .description('list the resellers with their clients and balances')
    .action(() => list(cli));
  reseller
    .command('clients')
    .description('list the clients of a reseller, by email')
    .argument('<reseller>', 'email or id')
    .option('--after <email>', 'only clients after this email')
    .action((name: string, { after }: { after?: string }) => clients(cli, name, after));
  reseller
    .command('tokens')
    .description('list the machine tokens of a reseller, newest first')
    .argument('<reseller>', 'email or id')
    .action((name: string) => tokens(cli, name));
  reseller
    .command('revoke')
    .description(
      'revoke a machine token immediately and permanently; exits with 1 if the reseller has no such active token',
    )
    .argument('<reseller>', 'email or id')
    .argument('<token>', 'its number, as shown by `reseller tokens`')
    .action((name: string, token: string) => revoke(cli, name, token));
}

async function list(cli: Cli): Promise<void> {
  const { listResellers } = await import('./sql-clients.ts');
  const { output } = cli;
  await cli.withStore(async (db) => {
    const resellers = await listResellers(db);
    const json = resellers.map((each) => ({
      id: each.id,
      email: each.email,
      active: each.active,
      clients: each.clients,
      balance_rials: each.balanceRials,
      negative_since: each.negativeSince?.toISOString() ?? null,
      suspended_at: each.suspendedAt?.toISOString() ?? null,
    }));
    if (output.json) await output.print(JSON.stringify({ resellers: json }));
    else {
      const heads = ['ID', 'EMAIL', 'ACTIVE', 'CLIENTS', 'BALANCE', 'BELOW ZERO SINCE', 'SUSPENDED'];
      const cells = json.map((each) => [
        each.id,
        each.email,
        each.active ? 'yes' : 'no',
        each.clients,
        each.balance_rials,
        each.negative_since ?? '-',
        each.suspended_at ?? '-',
      ]);
      await output.print(printTable(heads, cells));
    }
    return 0;
  });
}

async function clients(cli: Cli, name: string, after: string | undefined): Promise<void> {
  const { listClientsOf } = await import('./sql-clients.ts');
  const { output } = cli;
  await withReseller(cli, name, async (db, { id }) => {
    const found = await listClientsOf(db, id, { ...(after !== undefined && { after }), limit: MOST_LISTED });
    const json = found.map((each) => ({
      id: each.id,
      email: each.email,
      active: each.active,
      domains: each.domains,
      balance_rials: each.balanceRials,
    }));
    if (output.json) await output.print(JSON.stringify({ clients: json }));
    else {
      const cells = json.map((each) => [
        each.id,
        each.email,
        each.active ? 'yes' : 'no',
        each.domains,
        each.balance_rials,
      ]);
      await output.print(printTable(['ID', 'EMAIL', 'ACTIVE', 'DOMAINS', 'BALANCE'], cells));
    }
    return 0;
  });
}

async function tokens(cli: Cli, name: string): Promise<void> {
  const { listTokens } = await import('../../store/accounts/reseller-tokens.ts');
  const { output } = cli;
  await withReseller(cli, name, async (db, { id }) => {
    const json = (await listTokens(db, id)).map((each) => ({
      id: each.id,
      name: each.name,
      key_id: each.keyId,
      status: each.revokedAt === null ? 'active' : 'revoked',
      expires_at: each.expiresAt?.toISOString() ?? null,
      last_used_at: each.lastUsedAt?.toISOString() ?? null,
      created_at: each.createdAt.toISOString(),
    }));
    if (output.json) await output.print(JSON.stringify({ tokens: json }));
    else {
      const heads = ['ID', 'NAME', 'KEY ID', 'STATUS', 'EXPIRES', 'LAST USED'];
      const cells = json.map((each) => [
        each.id,
        each.name,
        each.key_id,
        each.status,
        each.expires_at ?? '-',
        each.last_used_at ?? '-',
      ]);
      await output.print(printTable(heads, cells));
    }
    return 0;
  });
}

async function revoke(cli: Cli, name: string, text: string): Promise<void> {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new Failure('usage', `<token>: expected a number, not "${text}"`);
  const tokenId = Number(text);
  const { revokeToken } = await import('../../store/accounts/reseller-tokens.ts');
  const { tokenNote } = await import('../../store/audit/audit-notes.ts');
  const { output } = cli;
  await withReseller(cli, name, async (db, { id, email }) => {
    const revoked = await cli.audited(db, 'token.revoke', async (trx, tell) => {
      const token = await revokeToken(trx, id, tokenId);
      if (token !== undefined) tell(tokenNote(token, 'before'));
      return token;
    });
    const outcome = revoked === undefined ? 'absent' : 'revoked';
    if (output.json) await output.print(JSON.stringify({ email, token: tokenId, outcome }));
    else if (revoked !== undefined)
      await output.print(`revoked ${revoked.name} (${revoked.keyId}) of ${email}`);
    else await output.complain(`${email}: no active token ${tokenId}`);
    return revoked === undefined ? 1 : 0;
  });
}

async function withReseller(
  cli: Cli,
  name: string,
  work: (db: Database, reseller: Account) => Promise<number>,
): Promise<void> {
  const { output } = cli;
  await cli.withStore((db) => withAccount(db, name, output, (account) => work(db, account)));
}
