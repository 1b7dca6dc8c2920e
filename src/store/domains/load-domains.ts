// Loads a domain for a caller who may see it: its owner, a member, the reseller of the owner, or a global admin.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { Caller } from '../accounts/actor.ts';
import { isClients, roleIn } from '../accounts/actor.ts';
import { PLAN_JSON } from '../accounts/plans.ts';
import { decodePublishSettings, loadPublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { Role } from '../postgres/tables/schema.ts';
import { ANAME_PROBLEMS } from '../records/aname-targets.ts';
import { decodeListed, type ListedRecord } from '../records/load-records.ts';
import { RECORD_JSON, type RecordJson } from '../records/record-row.ts';
import { decodeDomain } from './decode-domain.ts';
import type { Domain, DomainHead, Visible } from './domain.ts';
import {
  DOMAIN_TABLES,
  type DomainRow,
  IS_RESTORABLE,
  planOf,
  SHOWN_COLUMNS,
  SHOWN_TABLES,
  type ShownRow,
} from './domain-row.ts';

/** A part of domains that can be loaded. */
export interface DomainPart<D extends DomainHead> {
  readonly columns: RawBuilder<unknown>;
  readonly tables: RawBuilder<unknown>;
  /** Builds the part from its row. */
  decode(row: unknown): D;
}

export const WHOLE: DomainPart<Domain> = {
  columns: sql`${SHOWN_COLUMNS}, ${ANAME_PROBLEMS} as "anameProblems", ${SETTINGS_TEXT} as settings`,
  tables: SHOWN_TABLES,
  decode(row) {
    const { settings, ...shown } = row as ShownRow & { settings: string | null };
    return decodeDomain(shown, decodePublishSettings(settings));
  },
};

/** The default part. A caller that omits the part gets a `Domain`. */
function whole<D extends DomainHead>(): DomainPart<D> {
  return WHOLE as unknown as DomainPart<D>;
}

export const HEAD: DomainPart<DomainHead> = {
  columns: sql`d.id, d.account_id as "accountId", d.name, d.status, d.served, d.serial,
    d.plan_overrides as "planOverrides", case when p.id is not null then ${PLAN_JSON} end as plan`,
  tables: DOMAIN_TABLES,
  decode(row) {
    const { id, accountId, name, status, served, serial, ...plan } = row as DomainRow;
    return { id, accountId, name: decodeNameColumn(name), status, served, serial, plan: planOf(plan) };
  },
};

/** Returns `HEAD` with the record that has this id. `found` is undefined if the domain does not have it. */
export function headWithRecord(
  id: number,
): DomainPart<DomainHead & { readonly found: ListedRecord | undefined }> {
  return {
    ...HEAD,
    columns: sql`${HEAD.columns},
      (select ${RECORD_JSON} from records r where r.id = ${id} and r.domain_id = d.id) as record`,
    decode(row) {
      const { record } = row as { readonly record: RecordJson | null };
      return { ...HEAD.decode(row), found: record === null ? undefined : decodeListed(record) };
    },
  };
}

/**
 * Returns undefined if the domain does not exist or the caller has no role in it. If several domains have the name, the
 * caller's own comes first, then one shared with the caller. For global admins it is the one that is answered, then the
 * oldest.
 */
export async function loadDomain<D extends DomainHead = Domain>(
  db: Database,
  caller: Caller,
  name: Name,
  part: DomainPart<D> = whole(),
): Promise<Visible<D> | undefined> {
  return await loadVisible(db, caller, sql`d.name = ${encodeNameColumn(name)}`, part);
}

/** Returns those of these names that domains have in which the caller has a role. */
export async function findVisibleNames(
  db: Database,
  caller: Caller,
  names: readonly Name[],
): Promise<readonly Name[]> {
  const { rows } = await sql<{ name: string }>`
    select distinct d.name from domains d cross join lateral (select ${roleIn(sql`d`, caller)} as mine) role
    where d.name = any(${names.map(encodeNameColumn)}::text[]) and d.deleted_at is null
      and (${caller.isAdmin} or role.mine is not null)`.execute(db);
  return rows.map(({ name }) => decodeNameColumn(name));
}

/** Does the same as `loadDomain` by domain id. */
export async function loadVisibleById<D extends DomainHead = Domain>(
  db: Database,
  caller: Caller,
  id: number,
  part: DomainPart<D> = whole(),
): Promise<Visible<D> | undefined> {
  return await loadVisible(db, caller, sql`d.id = ${id}`, part);
}

/**
 * Loads a domain of a reseller's client, with the client's role. Returns undefined if it does not exist or its owner is
 * not this reseller's client.
 */
export async function loadClientsDomain<D extends DomainHead = Domain>(
  db: Database,
  resellerId: number,
  id: number,
  part: DomainPart<D> = whole(),
): Promise<Visible<D> | undefined> {
  const caller = { accountId: resellerId, isAdmin: false, isReseller: true };
  const found = await loadVisible(db, caller, sql`d.id = ${id} and ${isClients(sql`d`, resellerId)}`, part);
  return found && { ...found, myRole: 'owner' };
}

async function loadVisible<D extends DomainHead = Domain>(
  db: Database,
  caller: Caller,
  where: RawBuilder<unknown>,
  part: DomainPart<D>,
): Promise<Visible<D> | undefined> {
  const { accountId, isAdmin } = caller;
  const { rows } = await sql<{ myRole: Role }>`
    select ${part.columns}, case when ${isAdmin} then 'owner' else role.mine end as "myRole"
    from ${part.tables} cross join lateral (select ${roleIn(sql`d`, caller)} as mine) role
    where ${where} and d.deleted_at is null and (${isAdmin} or role.mine is not null)
    order by d.account_id <> ${accountId}, role.mine is null, d.zone_id is null, d.id limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { myRole, ...domain } = row;
  return { ...part.decode(domain), myRole };
}

/** For operators: returns the domain that holds the name, otherwise the newest. With `deleted`, the newest deleted one. */
export async function findDomain(
  db: Database,
  name: Name,
  { deleted = false }: { deleted?: boolean } = {},
): Promise<Domain | undefined> {
  return await loadOne(
    db,
    sql`d.name = ${encodeNameColumn(name)} and (d.deleted_at is not null) = ${deleted}
      order by d.zone_id is null, d.deleted_at desc, d.id desc limit 1`,
  );
}

/** For operators: returns all domains of this name, of any account. The one that is answered comes first, then the oldest. */
export async function findDomains<D extends DomainHead = Domain>(
  db: Database,
  name: Name,
  part: DomainPart<D> = whole(),
): Promise<readonly D[]> {
  const { rows } = await sql<unknown>`
    select ${part.columns} from ${part.tables}
    where d.name = ${encodeNameColumn(name)} and d.deleted_at is null order by d.zone_id is null, d.id`.execute(
    db,
  );
  return rows.map((row) => part.decode(row));
}

/** Returns the domains of this name that `restoreDomain` can restore, of any account, last deleted first. */
export async function findRestorable(db: Database, name: Name): Promise<Domain[]> {
  const { rows } = await sql<ShownRow>`
    select ${SHOWN_COLUMNS} from ${SHOWN_TABLES}
    where d.name = ${encodeNameColumn(name)} and ${IS_RESTORABLE} order by d.deleted_at desc, d.id desc`.execute(
    db,
  );
  if (rows.length === 0) return [];
  const settings = await loadPublishSettings(db);
  return rows.map((row) => decodeDomain(row, settings));
}

/** Loads a domain, even a deleted one. */
export async function loadDomainById(db: Database, id: number): Promise<Domain | undefined> {
  return await loadOne(db, sql`d.id = ${id}`);
}

async function loadOne(db: Database, where: RawBuilder<unknown>): Promise<Domain | undefined> {
  const { rows } = await sql<ShownRow & { settings: string | null }>`
    select ${SHOWN_COLUMNS}, ${ANAME_PROBLEMS} as "anameProblems", ${SETTINGS_TEXT} as settings
    from ${SHOWN_TABLES} where ${where}`.execute(db);
  if (rows[0] === undefined) return undefined;
  const { settings, ...row } = rows[0];
  return decodeDomain(row, decodePublishSettings(settings));
}
