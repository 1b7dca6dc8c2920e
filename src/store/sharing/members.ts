// The members of a domain: its owner, the reseller that manages the owner, and the accounts that it is shared with.

import { type RawBuilder, sql } from 'kysely';
import { endInvitesOf } from '../accounts/end-sharing.ts';
import type { Database } from '../postgres/database.ts';
import { type LogPage, logSql } from '../postgres/list-page.ts';
import type { Role } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type GrantedRole, judgeMemberChange } from './judge-sharing.ts';
import { lockSharing, refused, type SharedBy, type SharingRefusal } from './lock-sharing.ts';

/** Besides the owner and the reseller. */
const MAX_MEMBERS = 200;

export interface Member {
  readonly accountId: number;
  readonly email: string;
  readonly name: string | null;
  readonly role: Role;
  /** True if the account has the role as the reseller that manages the owner. */
  readonly isProvider: boolean;
  /** For the owner and the reseller, when the domain was created. */
  readonly createdAt: Date;
}

/** Selects one row per member. */
function membersOf(domainId: number): RawBuilder<unknown> {
  return sql`
    select a.id as "accountId", a.email, a.name, 'owner' as role, false as "isProvider", d.created_at as "createdAt"
    from domains d join accounts a on a.id = d.account_id where d.id = ${domainId}
    union all
    select a.id, a.email, a.name, 'admin', true, d.created_at
    from domains d join accounts o on o.id = d.account_id join accounts a on a.id = o.provider_id
    where d.id = ${domainId}
    union all
    select a.id, a.email, a.name, m.role, false, m.created_at
    from memberships m join domains d on d.id = m.domain_id join accounts o on o.id = d.account_id
      join accounts a on a.id = m.account_id
    where m.domain_id = ${domainId} and a.id <> o.id and a.id is distinct from o.provider_id`;
}

/** In the order of account ids. */
export async function listMembers(
  db: Database,
  domainId: number,
  page: LogPage = { limit: MAX_MEMBERS + 2, descending: false },
): Promise<Member[]> {
  const { behind, order } = logSql(sql`m."accountId"`, page);
  const { rows } = await sql<Member>`
    select m.* from (${membersOf(domainId)}) m where ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows;
}

export async function countMembers(db: Database, domainId: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (${membersOf(domainId)}) m`.execute(db);
  return rows[0]?.count ?? 0;
}

export async function loadMember(
  db: Database,
  domainId: number,
  accountId: number,
): Promise<Member | undefined> {
  const { rows } = await sql<Member>`
    select m.* from (${membersOf(domainId)}) m where m."accountId" = ${accountId}`.execute(db);
  return rows[0];
}

interface MemberOrder {
  readonly domainId: number;
  readonly accountId: number;
  readonly sharer: SharedBy;
}

/** `before` is undefined for a new member. */
type ChangedMember =
  | { readonly kind: 'member'; readonly member: Member; readonly before: Member | undefined }
  | SharingRefusal;
type RemovedMember = { readonly kind: 'removed'; readonly before: Member } | SharingRefusal;

/** Changes a member's role. The operator may also add a member. */
export async function setMember(
  db: Database,
  { domainId, accountId, sharer, role }: MemberOrder & { readonly role: GrantedRole },
): Promise<ChangedMember> {
  return await inTransaction<ChangedMember>(db, async (trx) => {
    const lock = await lockSharing(trx, domainId, sharer);
    if (lock === undefined) return refused('no_domain', 'no such domain');
    const before = await loadMember(trx, domainId, accountId);
    if (before === undefined && sharer !== 'operator') return refused('absent', 'no such member');
    const target = before ?? { role: 'viewer', isProvider: false };
    const refusal = judgeMemberChange(
      lock.role,
      { ...target, isSelf: sharer !== 'operator' && sharer.accountId === accountId },
      role,
    );
    if (refusal !== undefined) return refused(refusal.code, refusal.message);
    if (before === undefined && !(await hasRoom(trx, domainId))) return tooMany();
    const grantedBy = sharer === 'operator' ? null : sharer.accountId;
    await saveRole(trx, { domainId, accountId, role, grantedBy });
    if (before?.role === 'admin') await endInvitesOf(trx, accountId);
    return { kind: 'member', before, member: (await loadMember(trx, domainId, accountId)) as Member };
  });
}

/** Removes a member, effective with the next request. Members may remove themselves. */
export async function removeMember(
  db: Database,
  { domainId, accountId, sharer }: MemberOrder,
): Promise<RemovedMember> {
  return await inTransaction<RemovedMember>(db, async (trx) => {
    const lock = await lockSharing(trx, domainId, sharer);
    if (lock === undefined) return refused('no_domain', 'no such domain');
    const before = await loadMember(trx, domainId, accountId);
    if (before === undefined) return refused('absent', 'no such member');
    const isSelf = sharer !== 'operator' && sharer.accountId === accountId;
    const refusal = judgeMemberChange(lock.role, { ...before, isSelf }, undefined);
    if (refusal !== undefined) return refused(refusal.code, refusal.message);
    await sql`delete from memberships where domain_id = ${domainId} and account_id = ${accountId}`.execute(
      trx,
    );
    await endInvitesOf(trx, accountId);
    return { kind: 'removed', before };
  });
}

export async function hasRoom(trx: Database, domainId: number): Promise<boolean> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from memberships where domain_id = ${domainId}`.execute(trx);
  return (rows[0]?.count ?? 0) < MAX_MEMBERS;
}

export function tooMany(): SharingRefusal {
  return refused('full', `a domain may have ${MAX_MEMBERS} members`);
}

interface GrantOrder {
  readonly domainId: number;
  readonly accountId: number;
  readonly role: GrantedRole;
  /** The account that grants the role; null for an operator. */
  readonly grantedBy: number | null;
}

export async function saveRole(
  trx: Database,
  { domainId, accountId, role, grantedBy }: GrantOrder,
): Promise<void> {
  await sql`
    insert into memberships (domain_id, account_id, role, granted_by)
    values (${domainId}, ${accountId}, ${role}, ${grantedBy})
    on conflict (domain_id, account_id) do update set role = excluded.role, granted_by = excluded.granted_by`.execute(
    trx,
  );
}
