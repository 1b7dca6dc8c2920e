// `zonefleet account lock`, `account email` and `account otp-reset`: for people who have lost access to their account, and
// accounts that were hijacked (docs/operating/runbooks/hijacked-account.md).

import type { Command } from 'commander';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { withAccount } from '../terminal/find-account.ts';

export function addLockCommands(account: Command, cli: Cli): void {
  account
    .command('lock')
    .description(
      'deactivate an account, revoke its keys and tokens, end its sessions and invites, and delete its password, second step and identities; its domains are still served; exit 1 if the account does not exist',
    )
    .argument('<account>', "the account's email or id")
    .action((wanted: string) => lock(cli, wanted));

  account
    .command('email')
    .description(
      'replace the email address of an account, without a confirmation; exit 1 if another account has it',
    )
    .argument('<account>', "the account's email or id")
    .argument('<email>', 'the new email address')
    .action((wanted: string, email: string) => replaceEmail(cli, wanted, email));

  account
    .command('otp-reset')
    .description(
      'turn two-step sign-in of an account off and end its sessions, for a person who lost the second factor and the recovery codes; exit 1 if it is off',
    )
    .argument('<account>', "the account's email or id")
    .action((wanted: string) => resetOtp(cli, wanted));
}

async function lock(cli: Cli, wanted: string): Promise<void> {
  const { writeAudits } = await import('../../store/audit/write-audit.ts');
  const { keyNote, toldAccount, tokenNote } = await import('../../store/audit/audit-notes.ts');
  const { lockOut } = await import('../../store/people/lock-out.ts');
  const { by } = cli.changedBy();
  await cli.withStore((db) =>
    withAccount(db, wanted, cli.output, async (before) => {
      const { id, email } = before;
      const named = { accountId: id, target: { name: email } };
      const locked = await cli.audited(db, 'account.update', async (trx, tell) => {
        const done = await lockOut(trx, id);
        tell({ ...named, before: toldAccount(before), after: toldAccount(done.account) });
        await writeAudits(trx, [
          ...done.identities.map(({ issuer, subject, email: known }) => ({
            action: 'identity.unlink' as const,
            by,
            ...named,
            before: { issuer, subject, email: known },
          })),
          ...done.keys.map((key) => ({ action: 'key.revoke' as const, by, ...keyNote(key, 'before') })),
          ...done.tokens.map((token) => ({
            action: 'token.revoke' as const,
            by,
            ...tokenNote(token, 'before'),
          })),
        ]);
        return done;
      });
      const counts = {
        sessions: locked.sessions,
        keys: locked.keys.length,
        tokens: locked.tokens.length,
      };
      if (cli.output.json)
        await cli.output.print(JSON.stringify({ account: { id, email }, outcome: 'locked', ...counts }));
      else {
        const words = Object.entries(counts).map(([kind, count]) => `${kind} ${count}`);
        await cli.output.print(`locked ${email} account ${id} ${words.join(' ')}`);
      }
      return 0;
    }),
  );
}

async function replaceEmail(cli: Cli, wanted: string, given: string): Promise<void> {
  const { readEmail } = await import('../../store/accounts/accounts.ts');
  const { toldAccount } = await import('../../store/audit/audit-notes.ts');
  const { changeAccount } = await import('../../store/people/change-account.ts');
  const email = readEmail(given);
  if (email === undefined) throw new Failure('usage', `"${given}" is not an email address`);
  await cli.withStore((db) =>
    withAccount(db, wanted, cli.output, async ({ id }) => {
      const came = await cli.audited(db, 'account.update', async (trx, tell) => {
        const changed = await changeAccount(trx, id, { email });
        if (changed.kind === 'changed')
          tell({
            accountId: id,
            target: { name: email },
            before: toldAccount(changed.before),
            after: toldAccount(changed.account),
          });
        return changed;
      });
      if (came.kind === 'changed') return await cli.output.done({ account: email }, 'updated');
      const message = came.kind === 'refused' ? came.message : 'no such account';
      return await cli.output.refuse({ account: wanted }, message);
    }),
  );
}

async function resetOtp(cli: Cli, wanted: string): Promise<void> {
  const { endSessions } = await import('../../store/people/sessions.ts');
  const { deleteTotp } = await import('../../store/people/totp.ts');
  await cli.withStore((db) =>
    withAccount(db, wanted, cli.output, async ({ id, email }) => {
      const isReset = await cli.audited(db, 'account.disable_otp', async (trx, tell) => {
        if (!(await deleteTotp(trx, id))) return false;
        await endSessions(trx, id);
        tell({ accountId: id, target: { name: email } });
        return true;
      });
      return isReset
        ? await cli.output.done({ account: email }, 'reset')
        : await cli.output.refuse({ account: email }, 'two-step sign-in is off');
    }),
  );
}
