// `zonefleet account …`: accounts own domains and keys. An account is named by its email or id. Accounts are never deleted,
// because logs refer to them.

import type { Command } from 'commander';
import type { Account, AccountChange } from '../../store/accounts/accounts.ts';
import type { AuditNote } from '../../store/audit/write-audit.ts';
import type { Cli } from '../terminal/cli.ts';
import { commandOf } from '../terminal/commands.ts';
import { Failure } from '../terminal/failure.ts';
import { Listing, type Output } from '../terminal/output.ts';
import { planOf } from '../terminal/plan-option.ts';
import { printTable } from '../terminal/print-table.ts';
import { addLockCommands } from './lock.ts';
import { addLinkCommands } from './print-link.ts';

interface CreateOptions {
  readonly name?: string;
  readonly admin?: true;
  readonly plan: string;
}

export function addAccountCommands(program: Command, cli: Cli): void {
  const account = commandOf(program, 'account');
  addCreateCommand(account, cli);
  addLinkCommands(account, cli);
  addLockCommands(account, cli);

  account
    .command('list')
    .description('list accounts')
    .action(async () => {
      const { listAccounts } = await import('../../store/accounts/accounts.ts');
      await cli.withStore(async (db) => showAccounts(await listAccounts(db), cli.output));
    });

  onAccounts(account, 'admin', 'make accounts global admins, who own every domain')
    .option('--revoke', 'revoke this right')
    .action((accounts: string[], { revoke }: { revoke?: true }) =>
      changeAccounts(cli, accounts, revoke ? 'revoked' : 'admin', { isAdmin: !revoke }),
    );
  onAccounts(
    account,
    'deactivate',
    'reject all requests of these accounts; their domains are still served',
  ).action((accounts: string[]) => changeAccounts(cli, accounts, 'deactivated', { active: false }));
  onAccounts(account, 'activate', 'accept requests of these accounts again').action((accounts: string[]) =>
    changeAccounts(cli, accounts, 'activated', { active: true }),
  );
  onAccounts(account, 'plan', 'set the plan for domains that these accounts will create')
    .requiredOption('--plan <plan>', 'free, pro, another plan from `plan list`, or none')
    .action((accounts: string[], { plan }: { plan: string }) =>
      changeAccounts(cli, accounts, 'updated', { planSlug: planOf(plan) }),
    );
  onAccounts(account, 'reseller', 'make accounts resellers, who manage client accounts')
    .option('--revoke', 'revoke this right; refused while the account has clients')
    .action((accounts: string[], { revoke }: { revoke?: true }) =>
      relateAccounts(cli, accounts, { outcome: revoke ? 'revoked' : 'reseller', isReseller: !revoke }),
    );
  onAccounts(account, 'provider', 'make accounts clients of a reseller')
    .requiredOption('--provider <reseller>', "the reseller's email or id, or none")
    .action((accounts: string[], { provider }: { provider: string }) =>
      relateAccounts(cli, accounts, { outcome: 'updated', provider }),
    );
}

type Relation =
  | { readonly outcome: string; readonly isReseller: boolean }
  | { readonly outcome: string; readonly provider: string };

async function relateAccounts(cli: Cli, accounts: readonly string[], relation: Relation): Promise<void> {
  const { findAccount, setProvider, setReseller } = await import('../../store/accounts/accounts.ts');
  await cli.withStore(async (db) => {
    const named = 'provider' in relation && relation.provider !== 'none' ? relation.provider : undefined;
    const provider = named === undefined ? undefined : await findAccount(db, named);
    if (named !== undefined && provider === undefined) {
      throw new Failure('usage', `--provider: no account "${named}"`);
    }
    return await onEach(cli, accounts, relation.outcome, async (wanted) => {
      const found = await findAccount(db, wanted);
      if (found === undefined) return { code: 'absent', message: 'no such account' };
      const came = await cli.audited(db, 'account.update', async (trx, tell) => {
        const related = await ('isReseller' in relation
          ? setReseller(trx, found.id, relation.isReseller)
          : setProvider(trx, found.id, provider?.id ?? null));
        if (related.kind === 'updated') tell(await changeNote(found, related.account));
        return related;
      });
      return came.kind === 'updated' ? came.account : { code: came.code, message: came.message };
    });
  });
}

function onAccounts(account: Command, name: string, description: string): Command {
  return account
    .command(name)
    .description(`${description}; exit 1 if one does not exist`)
    .argument('<account...>', 'emails or ids');
}

function addCreateCommand(account: Command, cli: Cli): void {
  account
    .command('create')
    .description('create an account; exit 1 if one with this email exists')
    .argument('<email>', 'its email address')
    .option('--name <name>', "the owner's name")
    .option('--admin', 'make it a global admin, who owns every domain')
    .option('--plan <plan>', 'plan for the domains that it creates: free, pro, or none', 'free')
    .action(async (email: string, { name, admin, plan }: CreateOptions) => {
      const { readEmail } = await import('../../store/accounts/accounts.ts');
      if (readEmail(email) === undefined) {
        throw new Failure('usage', `"${email}" is not an email address`);
      }
      const { createAccount } = await import('../../store/accounts/accounts.ts');
      const wanted = { email, name: name ?? null, isAdmin: admin ?? false, planSlug: planOf(plan) };
      const { toldAccount } = await import('../../store/audit/audit-notes.ts');
      await cli.withStore(async (db) => {
        const came = await cli.audited(db, 'account.create', async (trx, tell) => {
          const created = await createAccount(trx, wanted);
          if (created.kind !== 'created') return created;
          const { account } = created;
          tell({ accountId: account.id, target: { name: account.email }, after: toldAccount(account) });
          return created;
        });
        if (came.kind === 'created') {
          if (cli.output.json) {
            await cli.output.print(JSON.stringify({ outcome: 'created', ...accountJson(came.account) }));
          } else await cli.output.print(`created ${wordsOf(came.account)}`);
          return 0;
        }
        const { kind, message } = came;
        if (cli.output.json) {
          await cli.output.print(JSON.stringify({ email, outcome: 'refused', code: kind, message }));
        } else await cli.output.complain(message);
        return 1;
      });
    });
}

async function changeAccounts(
  cli: Cli,
  accounts: readonly string[],
  outcome: string,
  change: AccountChange,
): Promise<void> {
  const { findAccount, updateAccount } = await import('../../store/accounts/accounts.ts');
  await cli.withStore(async (db) => {
    return await onEach(cli, accounts, outcome, async (wanted) => {
      const found = await findAccount(db, wanted);
      const now =
        found &&
        (await cli.audited(db, 'account.update', async (trx, tell) => {
          const updated = await updateAccount(trx, found.id, change);
          if (updated !== undefined && updated !== 'unknown_plan') tell(await changeNote(found, updated));
          return updated;
        }));
      if (now === undefined) return { code: 'absent', message: 'no such account' };
      if (now !== 'unknown_plan') return now;
      return { code: 'refused', message: `no plan "${change.planSlug}"` };
    });
  });
}

async function changeNote(before: Account, after: Account): Promise<AuditNote> {
  const { toldAccount } = await import('../../store/audit/audit-notes.ts');
  const target = { name: after.email };
  return { accountId: after.id, target, before: toldAccount(before), after: toldAccount(after) };
}

interface Refused {
  readonly code: string;
  readonly message: string;
}

/** Applies the change to each account and prints the outcomes. */
async function onEach(
  cli: Cli,
  accounts: readonly string[],
  outcome: string,
  act: (wanted: string) => Promise<Account | Refused>,
): Promise<number> {
  const listing = new Listing(cli.output, 'accounts');
  let refused = 0;
  for (const wanted of new Set(accounts)) {
    const came = await act(wanted);
    if ('code' in came) {
      refused++;
      const { code, message } = came;
      await listing.add({
        json: { account: wanted, outcome: code, message },
        problems: [`${wanted}: ${message}`],
      });
      continue;
    }
    const json = { account: wanted, outcome, ...accountJson(came) };
    await listing.add({ json, lines: [`${outcome} ${wordsOf(came)}`] });
  }
  await listing.end({});
  return refused > 0 ? 1 : 0;
}

function wordsOf({ id, email, isAdmin, isReseller, providerId, active, planSlug }: Account): string {
  const marks = [
    ...(isAdmin ? ['admin'] : []),
    ...(isReseller ? ['reseller'] : []),
    ...(providerId === null ? [] : [`client of ${providerId}`]),
    ...(active ? [] : ['inactive']),
  ];
  return [`${email} account ${id} plan ${planSlug ?? 'none'}`, ...marks].join(' ');
}

function accountJson(account: Account): object {
  const { id, email, name, isAdmin, isReseller, providerId, active, planSlug, createdAt } = account;
  return {
    id,
    email,
    name,
    admin: isAdmin,
    reseller: isReseller,
    provider: providerId,
    active,
    plan: planSlug,
    created_at: createdAt.toISOString(),
  };
}

function roleOf({ isAdmin, isReseller, providerId }: Account): string {
  if (isAdmin) return 'admin';
  if (isReseller) return 'reseller';
  return providerId === null ? 'customer' : `client of ${providerId}`;
}

async function showAccounts(accounts: readonly Account[], output: Output): Promise<number> {
  if (output.json) {
    await output.print(JSON.stringify({ accounts: accounts.map(accountJson) }));
    return 0;
  }
  const heads = ['ID', 'EMAIL', 'NAME', 'ROLE', 'STATE', 'PLAN', 'CREATED'];
  const rows = accounts.map((account) => [
    account.id,
    account.email,
    account.name ?? '-',
    roleOf(account),
    account.active ? 'active' : 'inactive',
    account.planSlug ?? '-',
    account.createdAt.toISOString().slice(0, 10),
  ]);
  await output.print(printTable(heads, rows));
  return 0;
}
