// `domain members`: lists the members of a domain and its open invites.

import type { Database } from '../../store/postgres/database.ts';
import { type Invite, listOpenInvites } from '../../store/sharing/invites.ts';
import { listMembers, type Member } from '../../store/sharing/members.ts';
import { onOneDomain } from '../terminal/on-one-domain.ts';
import type { Output } from '../terminal/output.ts';
import { printTable } from '../terminal/print-table.ts';
import type { OwnerOption } from '../terminal/with-owner.ts';

export async function showMembers(
  db: Database,
  name: string,
  options: OwnerOption,
  output: Output,
): Promise<number> {
  return await onOneDomain(db, name, options, output, async ({ id }) => {
    const members = await listMembers(db, id);
    const invites = await listOpenInvites(db, id);
    await output.print(
      output.json
        ? JSON.stringify({ id, members: members.map(memberJson), invites: invites.map(inviteJson) })
        : printTable(HEADS, [...members.map(memberRow), ...invites.map(inviteRow)]),
    );
    return 0;
  });
}

const HEADS = ['ACCOUNT', 'EMAIL', 'NAME', 'ROLE', 'SINCE'];

function memberRow({ accountId, email, name, role, isProvider, createdAt }: Member) {
  return [accountId, email, name ?? '-', isProvider ? `${role} (reseller)` : role, day(createdAt)];
}

function inviteRow({ email, role, expiresAt }: Invite) {
  return ['-', email, '-', role, `invited until ${day(expiresAt)}`];
}

function memberJson({ accountId, email, name, role, isProvider, createdAt }: Member): object {
  return { id: accountId, email, name, role, provider: isProvider, created_at: createdAt.toISOString() };
}

function inviteJson({ id, email, role, invitedBy, expiresAt }: Invite): object {
  return { id, email, role, invited_by: invitedBy, expires_at: expiresAt.toISOString() };
}

function day(at: Date): string {
  return at.toISOString().slice(0, 10);
}
