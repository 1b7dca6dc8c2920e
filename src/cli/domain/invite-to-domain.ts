// `domain invite`: prints an invite link, as the only output on stdout. The link is a secret until it is used, and it counts as
// received at the invited address: give it only to that person. No mail server is needed.

import { linkTo } from '../../process/public-link.ts';
import { inviteNote } from '../../store/audit/audit-notes.ts';
import type { Database } from '../../store/postgres/database.ts';
import { createInvite, type SentInvite } from '../../store/sharing/invites.ts';
import type { GrantedRole } from '../../store/sharing/judge-sharing.ts';
import type { Audited } from '../terminal/cli.ts';
import { onOneDomain } from '../terminal/on-one-domain.ts';
import type { Output } from '../terminal/output.ts';
import { printRefusal } from '../terminal/print-refusal.ts';
import type { OwnerOption } from '../terminal/with-owner.ts';

export type AuditedInvite = (db: Database, work: Audited<SentInvite>) => Promise<SentInvite>;

interface InviteOptions extends OwnerOption {
  readonly email: string;
  readonly role: GrantedRole;
  readonly publicUrl: string;
  readonly audited: AuditedInvite;
}

export async function inviteToDomain(
  db: Database,
  name: string,
  { email, role, publicUrl, audited, ...options }: InviteOptions,
  output: Output,
): Promise<number> {
  return await onOneDomain(db, name, options, output, async (domain) => {
    const sent = await audited(db, async (trx, tell) => {
      const inviter = { sharer: 'operator', mails: false } as const;
      const made = await createInvite(trx, { domainId: domain.id, email, role, inviter });
      if (made.kind === 'sent') tell({ domainId: domain.id, ...inviteNote(made.invite) });
      return made;
    });
    if (sent.kind === 'refused') {
      await printRefusal(domain.name, sent, output);
      return 1;
    }
    const { invite, token } = sent;
    const link = linkTo(publicUrl, 'invite', token);
    if (output.json) {
      const expires_at = invite.expiresAt.toISOString();
      await output.print(JSON.stringify({ invite: { id: invite.id, email, role, expires_at }, link, token }));
      return 0;
    }
    await output.print(link);
    await output.complain(`for ${email}, as ${role}: the link works once and expires after 7 days`);
    return 0;
  });
}
