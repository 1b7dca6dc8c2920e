// Sharing is changed under the lock of the domain's row, where the rights of who changes it are judged again: they may have been
// taken away since the request began. The lock comes before those of invites, members and counts, and no other is taken later.

import { sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Caller } from '../accounts/actor.ts';
import { roleIn } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { Role } from '../postgres/tables/schema.ts';

/** Who changes something: an account, or the operator, who may do all that an owner may. */
export type SharedBy = Caller | 'operator';

interface SharingLock {
  readonly name: Name;
  readonly status: DomainStatus;
  /** Of who asks. */
  readonly role: Role;
}

/** A change of sharing that is not made. */
export interface SharingRefusal {
  readonly kind: 'refused';
  readonly code: /** The domain, or what is changed in it, is not there, or not for who asks. */
    | 'no_domain'
    | 'absent'
    /** The invite is used or revoked. */
    | 'ended'
    | 'forbidden'
    | 'owner'
    | 'provider'
    /** As many as a domain may have. */
    | 'full'
    /** Too many were sent lately. */
    | 'limited';
  readonly message: string;
  /** With `limited`. */
  readonly retryAfterSeconds?: number;
}

export function refused(
  code: SharingRefusal['code'],
  message: string,
  more: { readonly retryAfterSeconds?: number } = {},
): SharingRefusal {
  return { kind: 'refused', code, message, ...more };
}

/** Undefined: there is no such domain, or it is none of theirs. */
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
