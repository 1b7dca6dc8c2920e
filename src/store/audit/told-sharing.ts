// What the audit log tells of members and invites.

import type { AuditNote } from './write-audit.ts';

interface ToldMember {
  readonly accountId: number;
  readonly email: string;
  readonly role: string;
}

interface ToldInvite {
  readonly id: number;
  readonly email: string;
  readonly role: string;
}

/** The member is what the action is done to; undefined: before, or after, there is none. */
export function memberNote(before: ToldMember | undefined, after: ToldMember | undefined): AuditNote {
  const member = after ?? before;
  return {
    target: { id: member?.accountId, name: member?.email },
    before: before && { email: before.email, role: before.role },
    after: after && { email: after.email, role: after.role },
  };
}

export function inviteNote({ id, email, role }: ToldInvite): AuditNote {
  return { target: { id, name: email }, after: { email, role } };
}
