// `zonefleet identity …`: the identities with which people sign in to accounts.

import type { Command } from 'commander';
import type { Cli } from '../../cli/terminal/cli.ts';
import { commandOf } from '../../cli/terminal/commands.ts';
import { Failure } from '../../cli/terminal/failure.ts';
import { withAccount } from '../../cli/terminal/find-account.ts';
import { printTable } from '../../cli/terminal/print-table.ts';
import { findKeyFault } from './rules.ts';

export function addIdentityCommands(program: Command, cli: Cli): void {
  const identity = commandOf(program, 'identity');
  identity
    .command('list')
    .description('list the identities of an account; exit 1 if it does not exist')
    .argument('<account>', "the account's email or id")
    .action((account: string) => list(cli, account));
  identity
    .command('link')
    .description('let an identity of the provider of OIDC_ISSUER sign in to an account; exit 1 if refused')
    .argument('<account>', "the account's email or id")
    .argument('<subject>', 'the claim `sub` of the person at the provider')
    .option('--issuer <url>', 'the claim `iss`; by default, the provider of OIDC_ISSUER is asked for it')
    .action((account: string, subject: string, { issuer }: { issuer?: string }) =>
      link(cli, account, { subject, issuer }),
    );
  identity
    .command('remove')
    .description('remove all identities of an account, and end its sessions; exit 1 if it has none')
    .argument('<account>', "the account's email or id")
    .action((account: string) => remove(cli, account));
}

async function list(cli: Cli, wanted: string): Promise<void> {
  const { listIdentities } = await import('../../store/people/identities.ts');
  await cli.withStore((db) =>
    withAccount(db, wanted, cli.output, async ({ id }) => {
      const identities = await listIdentities(db, id);
      if (cli.output.json) {
        await cli.output.print(JSON.stringify({ identities }));
        return 0;
      }
      const rows = identities.map(({ issuer, subject, email, usedAt }) => [
        issuer,
        subject,
        email ?? '-',
        usedAt?.toISOString() ?? '-',
      ]);
      await cli.output.print(printTable(['ISSUER', 'SUBJECT', 'EMAIL', 'USED'], rows));
      return 0;
    }),
  );
}

async function link(
  cli: Cli,
  wanted: string,
  given: { readonly subject: string; readonly issuer: string | undefined },
): Promise<void> {
  const { linkIdentity } = await import('../../store/people/identities.ts');
  const issuer = given.issuer ?? (await providersIssuer(cli));
  const { subject } = given;
  const fault = findKeyFault({ issuer, subject });
  if (fault !== undefined) throw new Failure('usage', fault);
  await cli.withStore((db) =>
    withAccount(db, wanted, cli.output, async ({ id, email }) => {
      const linked = await cli.audited(db, 'identity.link', async (trx, tell) => {
        const made = await linkIdentity(trx, { accountId: id, issuer, subject, email: null });
        if (typeof made !== 'string')
          tell({ accountId: id, target: { name: email }, after: { issuer, subject, email: null } });
        return made;
      });
      return typeof linked === 'string'
        ? await cli.output.refuse({ account: email }, linked)
        : await cli.output.done({ account: email }, 'linked');
    }),
  );
}

/** Asks the provider, because its tokens may contain another form of the URL in the settings. */
async function providersIssuer(cli: Cli): Promise<string> {
  const { oidcIssuer } = await cli.settings();
  if (oidcIssuer === undefined) throw new Failure('usage', 'set OIDC_ISSUER, or give --issuer');
  const { findIssuer } = await import('./client.ts');
  try {
    return await findIssuer(oidcIssuer);
  } catch (error) {
    throw new Failure(
      'settings',
      `OIDC_ISSUER: the identity provider cannot be used (${(error as Error).message}): correct it, or give --issuer`,
    );
  }
}

async function remove(cli: Cli, wanted: string): Promise<void> {
  const { unlinkIdentities } = await import('../../store/people/identities.ts');
  const { endSessions } = await import('../../store/people/sessions.ts');
  await cli.withStore((db) =>
    withAccount(db, wanted, cli.output, async (account) => {
      const removed = await cli.audited(db, 'identity.unlink', async (trx, tell) => {
        const identities = await unlinkIdentities(trx, account.id);
        for (const { issuer, subject, email } of identities) {
          tell({
            accountId: account.id,
            target: { name: account.email },
            before: { issuer, subject, email },
          });
        }
        if (identities.length > 0) await endSessions(trx, account.id);
        return identities.length;
      });
      return removed === 0
        ? await cli.output.refuse({ account: account.email }, 'the account has no identity')
        : await cli.output.done({ account: account.email }, 'removed');
    }),
  );
}
