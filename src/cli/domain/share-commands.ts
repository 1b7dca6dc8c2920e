// `zonefleet domain members|share|unshare|invite`: manage access of other accounts to a domain.

import { type Command, Option } from 'commander';
import { GRANTED_ROLES, type GrantedRole } from '../../store/sharing/judge-sharing.ts';
import type { Cli } from '../terminal/cli.ts';
import { Failure } from '../terminal/failure.ts';
import { type OwnerOption, ownerOption } from '../terminal/with-owner.ts';
import type { AuditedInvite } from './invite-to-domain.ts';
import { runOnNames } from './on-names.ts';

interface RoleOption extends OwnerOption {
  readonly role: GrantedRole;
}

export function addShareCommands(domain: Command, cli: Cli): void {
  onDomain(domain, 'members', 'list the members of a domain and its open invites').action(
    async (name: string, options: OwnerOption) => {
      const { showMembers } = await import('./show-members.ts');
      await cli.withStore((db) => showMembers(db, name, options, cli.output));
    },
  );
  onDomain(domain, 'share', 'give an account a role in a domain')
    .argument('<member>', "the account's email or id")
    .addOption(roleOption())
    .action(async (name: string, member: string, { role, ...options }: RoleOption) => {
      const { shareDomain } = await import('./share-domain.ts');
      await runOnNames(cli, { names: [name], outcome: 'shared', ...options }, (db, wanted, owner) =>
        cli.audited(db, 'member.update', (trx, tell) =>
          shareDomain(trx, wanted, { member, role, tell, ...owner }),
        ),
      );
    });
  onDomain(domain, 'unshare', 'remove an account from a domain')
    .argument('<member>', "the account's email or id")
    .action(async (name: string, member: string, options: OwnerOption) => {
      const { unshareDomain } = await import('./share-domain.ts');
      await runOnNames(cli, { names: [name], outcome: 'unshared', ...options }, (db, wanted, owner) =>
        cli.audited(db, 'member.remove', (trx, tell) =>
          unshareDomain(trx, wanted, { member, tell, ...owner }),
        ),
      );
    });
  onDomain(
    domain,
    'invite',
    'print an invite link that gives the account with this email a role; it works once and expires after 7 days',
  )
    .argument('<email>', 'email address to invite; an account may be created later')
    .addOption(roleOption())
    .action(async (name: string, email: string, options: RoleOption) => {
      const { readEmail } = await import('../../store/accounts/accounts.ts');
      const read = readEmail(email);
      if (read === undefined) throw new Failure('usage', `"${email}" is not an email address`);
      const { inviteToDomain } = await import('./invite-to-domain.ts');
      const publicUrl = await cli.publicUrl();
      const audited: AuditedInvite = (db, work) => cli.audited(db, 'invite.create', work);
      await cli.withStore((db) =>
        inviteToDomain(db, name, { ...options, email: read, publicUrl, audited }, cli.output),
      );
    });
}

function onDomain(domain: Command, name: string, description: string): Command {
  return ownerOption(
    domain
      .command(name)
      .description(`${description}; exit 1 if refused`)
      .argument('<name>', "the domain's name"),
  );
}

function roleOption(): Option {
  return new Option('--role <role>', 'role of the member').choices(GRANTED_ROLES).makeOptionMandatory();
}
