// Decides who may change a domain's members, and the role that an invite grants. Pure functions.

import type { Role } from '../postgres/tables/schema.ts';

/** A role that can be granted. The owner's role comes with the domain. */
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
  /** True if the account has the role as the reseller that manages the owner. */
  readonly isProvider: boolean;
  /** True if the account is the caller. */
  readonly isSelf: boolean;
}

interface MemberRefusal {
  readonly code: 'owner' | 'provider' | 'forbidden';
  readonly message: string;
}

/**
 * @param own the caller's role
 * @param wanted the new role; undefined to remove the member
 */
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

/** Returns the role after accepting an invite, which never lowers it. `before` is undefined if the account had no role. */
export function roleAfterAccept<R extends Role>(
  before: R | undefined,
  offered: GrantedRole,
): R | GrantedRole {
  return before !== undefined && RANK[before] >= RANK[offered] ? before : offered;
}

/** The stored status. An open invite ends when it expires. */
export type InviteEnd = 'open' | 'accepted' | 'revoked';
export type InviteStatus = InviteEnd | 'expired';

export function inviteStatus(end: InviteEnd, expiresAt: Date, now: Date): InviteStatus {
  return end === 'open' && expiresAt.getTime() <= now.getTime() ? 'expired' : end;
}

/** Masks an address so that only its owner recognizes it: `a•••@e•••.com`. */
export function maskEmail(email: string): string {
  const at = email.lastIndexOf('@');
  const host = email.slice(at + 1);
  const dot = host.lastIndexOf('.');
  return `${masked(email.slice(0, at))}@${masked(host)}${dot > 0 ? host.slice(dot) : ''}`;
}

function masked(text: string): string {
  return `${[...text][0] ?? ''}•••`;
}
