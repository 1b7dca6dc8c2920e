// Who may change what of a domain's members, and what an invite gives. Decisions over values.

import type { Role } from '../postgres/tables/schema.ts';

/** A role that is granted; an owner is one by having the domain. */
export type GrantedRole = Exclude<Role, 'owner'>;
export const GRANTED_ROLES = ['admin', 'editor', 'viewer'] as const satisfies readonly GrantedRole[];

const RANK: Readonly<Record<Role, number>> = { viewer: 1, editor: 2, admin: 3, owner: 4 };

/** The permission `members.manage`. */
function managesMembers(role: Role): boolean {
  return role === 'owner' || role === 'admin';
}

export function mayGrant(own: Role, granted: GrantedRole): boolean {
  return managesMembers(own) && RANK[granted] <= RANK[own];
}

interface Target {
  readonly role: Role;
  /** It has the role as the reseller that manages the owner. */
  readonly isProvider: boolean;
  /** It is who asks. */
  readonly isSelf: boolean;
}

interface MemberRefusal {
  readonly code: 'owner' | 'provider' | 'forbidden';
  readonly message: string;
}

/** `own`: the role of who asks. `wanted` undefined: the member is to go. */
export function judgeMemberChange(
  own: Role,
  target: Target,
  wanted: GrantedRole | undefined,
): MemberRefusal | undefined {
  const isLeaving = target.isSelf && wanted === undefined;
  if (!isLeaving && !managesMembers(own))
    return { code: 'forbidden', message: 'your role lacks members.manage' };
  if (target.role === 'owner') return { code: 'owner', message: 'the owner cannot be changed' };
  if (target.isProvider)
    return { code: 'provider', message: 'the reseller that manages the owner cannot be changed here' };
  const isAbove = RANK[target.role] > RANK[own] || (wanted !== undefined && RANK[wanted] > RANK[own]);
  return isAbove ? { code: 'forbidden', message: 'this role is above your own' } : undefined;
}

/** Accepting never lowers a role. Undefined: the account had none. */
export function roleAfterAccept<R extends Role>(
  before: R | undefined,
  offered: GrantedRole,
): R | GrantedRole {
  return before !== undefined && RANK[before] >= RANK[offered] ? before : offered;
}

/** The stored status. An open invite is over once it expires. */
export type InviteEnd = 'open' | 'accepted' | 'revoked';
export type InviteStatus = InviteEnd | 'expired';

export function inviteStatus(end: InviteEnd, expiresAt: Date, now: Date): InviteStatus {
  return end === 'open' && expiresAt.getTime() <= now.getTime() ? 'expired' : end;
}

/** Tells a person which of their own addresses is meant, and nobody else what it is: `a•••@e•••.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const host = email.slice(at + 1);
  const dot = host.lastIndexOf('.');
  return `${masked(email.slice(0, at))}@${masked(host)}${dot > 0 ? host.slice(dot) : ''}`;
}

function masked(text: string): string {
  return `${[...text][0] ?? ''}•••`;
}
