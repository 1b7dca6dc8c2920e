// Locks a domain's row for changes of sharing, and checks the caller's rights again, which may have changed since the
// request started. This lock is taken before those of invites, members and counts. No other lock is taken later.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Caller } from '../accounts/actor.ts';
import { roleIn } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { Role } from '../postgres/tables/schema.ts';

/** The caller: an account, or the operator, who has an owner's rights. */
export type SharedBy = Caller | 'operator';

interface SharingLock {
  readonly name: Name;
  readonly status: DomainStatus;
  readonly role: Role;
}

export interface SharingRefusal {
  readonly kind: 'refused';
  readonly code: /** The domain or the object does not exist, or the caller may not see it. */
    | 'no_domain'
    | 'absent'
    /** The invite was used or revoked. */
    | 'ended'
    | 'forbidden'
    | 'owner'
    | 'provider'
    /** The domain has the maximum number. */
    | 'full'
    /** Too many were sent recently. */
    | 'limited';
  readonly message: string;
  /** For `limited`. */
  readonly retryAfterSeconds?: number;
}

export function refused(
  code: SharingRefusal['code'],
  message: string,
  more: { readonly retryAfterSeconds?: number } = {},
): SharingRefusal {
  return { kind: 'refused', code, message, ...more };
}

/** Returns undefined if the domain does not exist or the caller has no role in it. */
export async function lockSharing(
  trx: Database,
  domainId: number,
  by: SharedBy,
): Promise<SharingLock | undefined> {
  const locked = await sql`
    select from domains where id = ${domainId} and deleted_at is null for no key update`.execute(trx);
  if (locked.rows.length === 0) return undefined;
  const isOwner = by === 'operator' || by.isAdmin;
  const role = isOwner ? sql`'owner'` : roleIn(sql`d`, by);
  const { rows } = await sql<{ name: string; status: DomainStatus; role: Role | null }>`
    select d.name, d.status, ${role} as role from domains d where d.id = ${domainId}`.execute(trx);
  const [row] = rows;
  if (row === undefined || row.role === null) return undefined;
  return { name: decodeNameColumn(row.name), status: row.status, role: row.role };
}
