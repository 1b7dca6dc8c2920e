// `zonefleet account reset` and `account sign-in`: print a single-use link. The link is the only output on stdout, so that
// scripts can read it. It is a secret until it is used.

import type { Command } from 'commander';
import type { Cli } from '../terminal/cli.ts';

const COMMANDS = [
  {
    name: 'sign-in',
    kind: 'sign-in',
    description: 'print a sign-in link for this account, which works once and expires after 15 minutes',
    ends: 'the link works once and expires after 15 minutes',
  },
  {
    name: 'reset',
    kind: 'reset',
    description:
      'print a password reset link for this account, which works once and expires after 30 minutes',
    ends: 'the link works once, expires after 30 minutes, and ends all sessions of the account',
  },
] as const;

export function addLinkCommands(account: Command, cli: Cli): void {
  for (const { name, kind, description, ends } of COMMANDS) {
    account
      .command(name)
      .description(`${description}; exit 1 if the account does not exist`)
      .argument('<account>', "the account's email or id")
      .action(async (wanted: string) => {
        const { linkTo } = await import('../../process/public-link.ts');
        const { makeLink } = await import('../../store/people/credentials.ts');
        const { withAccount } = await import('../terminal/find-account.ts');
        const publicUrl = await cli.publicUrl();
        const { output } = cli;
        await cli.withStore((db) =>
          withAccount(db, wanted, output, async ({ id, email }) => {
            const token = await cli.audited(db, 'account.link', async (trx, tell) => {
              tell({ accountId: id, target: { name: email }, after: { kind } });
              return await makeLink(trx, { kind, accountId: id });
            });
            const link = linkTo(publicUrl, kind, token);
            if (output.json) {
              await output.print(JSON.stringify({ account: { id, email }, link, token }));
              return 0;
            }
            await output.print(link);
            await output.complain(`for ${email}: ${ends}`);
            return 0;
          }),
        );
      });
  }
}
