// Loads domains for those who may see them: their owner, members, and global admins.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DnsMode, DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Caller } from '../accounts/actor.ts';
import { decodePublishSettings, loadPublishSettings, SETTINGS_TEXT } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import {
  contains,
  type Page,
  type Paged,
  pageSql,
  type SortKey,
  streamPages,
  toPage,
} from '../postgres/list-page.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import type { Role } from '../postgres/schema.ts';
import { ANAME_TROUBLES } from '../records/aname-troubles.ts';
import {
  DOMAIN_COLUMNS,
  DOMAIN_TABLES,
  type Domain,
  type DomainRow,
  decodeDomain,
  RESTORABLE_DAYS,
  type VisibleDomain,
} from './domain.ts';

/** Undefined when there is no such domain, or the caller has no role in it. */
export async function loadDomain(
  db: Database,
  { accountId, isAdmin }: Caller,
  name: Name,
): Promise<VisibleDomain | undefined> {
  const { rows } = await sql<DomainRow & { myRole: Role; settings: string | null }>`
    select ${DOMAIN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles", ${SETTINGS_TEXT} as settings,
      case when ${isAdmin} or d.account_id = ${accountId} then 'owner' else m.role end as "myRole"
    from ${DOMAIN_TABLES} left join memberships m on m.domain_id = d.id and m.account_id = ${accountId}
    where d.name = ${encodeNameColumn(name)} and d.deleted_at is null
      and (${isAdmin} or d.account_id = ${accountId} or m.role is not null)
    order by d.zone_id is null, d.id desc limit 1`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { myRole, settings, ...domain } = row;
  return { ...decodeDomain(domain, decodePublishSettings(settings)), myRole };
}

/** For operators: the domain that holds the name, else the newest; with `deleted`, the newest deleted one. */
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

/** The domains of this name that `restoreDomain` can bring back, of any account, the last deleted first. */
export async function findRestorable(db: Database, name: Name): Promise<Domain[]> {
  const { rows } = await sql<DomainRow>`
    select ${DOMAIN_COLUMNS} from ${DOMAIN_TABLES}
    where d.name = ${encodeNameColumn(name)} and ${IS_RESTORABLE} order by d.deleted_at desc, d.id desc`.execute(
    db,
  );
  if (rows.length === 0) return [];
  const settings = await loadPublishSettings(db);
  return rows.map((row) => decodeDomain(row, settings));
}

const IS_RESTORABLE = sql`d.deleted_at >= clock_timestamp() - make_interval(days => ${RESTORABLE_DAYS}::integer)`;

/** Loads a domain, even a deleted one. */
export async function loadDomainById(db: Database, id: number): Promise<Domain | undefined> {
  return await loadOne(db, sql`d.id = ${id}`);
}

async function loadOne(db: Database, where: RawBuilder<unknown>): Promise<Domain | undefined> {
  const { rows } = await sql<DomainRow>`
    select ${DOMAIN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles" from ${DOMAIN_TABLES} where ${where}`.execute(
    db,
  );
  const [row] = rows;
  return row === undefined ? undefined : decodeDomain(row, await loadPublishSettings(db));
}

export const DOMAIN_SORTS = ['name', 'created_at', 'status', 'next_check_at'] as const;
export type DomainSort = (typeof DOMAIN_SORTS)[number];

export interface DomainFilter {
  /** Text in the name, or in its Unicode form. */
  readonly search?: string;
  readonly statuses?: readonly DomainStatus[];
  readonly dnsMode?: DnsMode;
  /** The role that the caller has. */
  readonly role?: Role;
  /** The domains to which a key is narrowed. */
  readonly names?: readonly Name[];
  /** For operators: list the domains that can be restored, instead of existing ones. */
  readonly deleted?: boolean;
}

export interface DomainOrder {
  readonly sort: DomainSort;
  readonly descending: boolean;
}

/** Each key has an index, with the same expression. */
const SORT_KEYS: Readonly<Record<DomainSort, SortKey>> = {
  name: { expression: sql`d.name`, type: 'text' },
  created_at: { expression: sql`d.created_at`, type: 'timestamptz' },
  status: { expression: sql`d.status`, type: 'text' },
  next_check_at: { expression: sql`coalesce(d.next_check_at, 'infinity')`, type: 'timestamptz' },
};

/** Throws `CursorError`. */
export async function listDomains(
  db: Database,
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
  { limit, cursor, offset = 0 }: Page,
): Promise<Paged<VisibleDomain>> {
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, sql`d.id`, cursor);
  const wanted = offset + limit + 1;
  // Each branch is bounded by itself, so that each goes along its index.
  const branches = visibleBranches(caller, filter).map(
    (branch) => sql`(select d.id, ${key.expression} as key, ${branch.role} as role from ${branch.tables}
      where ${branch.where} and ${behind} order by 2 ${direction}, 1 ${direction} limit ${wanted})`,
  );
  if (branches.length === 0) return { items: [], cursor: undefined };
  const settings = await loadPublishSettings(db);
  const { rows } = await sql<DomainRow & { myRole: Role; sortKey: string }>`
    select ${DOMAIN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles", v.role as "myRole", v.key::text as "sortKey"
    from (select * from (${sql.join(branches, sql` union all `)}) b
        order by key ${direction}, id ${direction} offset ${offset} limit ${limit + 1}) v
      join domains d on d.id = v.id left join plans p on p.id = d.plan_id
    order by v.key ${direction}, v.id ${direction}`.execute(db);
  return toPage(rows, limit, order, ({ myRole, sortKey: _, ...row }) => ({
    ...decodeDomain(row, settings),
    myRole,
  }));
}

/** Streams all domains, however many, in bounded memory. */
export function streamDomains(
  db: Database,
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
): AsyncGenerator<VisibleDomain> {
  return streamPages((page) => listDomains(db, caller, filter, order, page));
}

export async function countDomains(db: Database, caller: Caller, filter: DomainFilter): Promise<number> {
  let count = 0;
  for (const { tables, where } of visibleBranches(caller, filter)) {
    const { rows } = await sql<{ count: number }>`select count(*) from ${tables} where ${where}`.execute(db);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

interface Branch {
  readonly tables: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly role: RawBuilder<unknown>;
}

/** Selects own domains and shared ones; for a global admin all are own ones. */
function visibleBranches({ accountId, isAdmin }: Caller, filter: DomainFilter): Branch[] {
  const { role } = filter;
  const where = conditions(filter);
  const branches: Branch[] = [];
  if (role === undefined || role === 'owner') {
    const own = isAdmin ? where : sql`d.account_id = ${accountId} and ${where}`;
    branches.push({ tables: sql`domains d`, where: own, role: sql`'owner'` });
  }
  if (!isAdmin && role !== 'owner') {
    const granted = role === undefined ? sql`true` : sql`m.role = ${role}`;
    branches.push({
      tables: sql`memberships m join domains d on d.id = m.domain_id`,
      where: sql`m.account_id = ${accountId} and d.account_id <> ${accountId} and ${granted} and ${where}`,
      role: sql`m.role`,
    });
  }
  return branches;
}

function conditions({
  search,
  statuses,
  dnsMode,
  names,
  deleted = false,
}: DomainFilter): RawBuilder<unknown> {
  const all = [deleted ? IS_RESTORABLE : sql`d.deleted_at is null`];
  if (statuses !== undefined) all.push(sql`d.status = any(${statuses}::text[])`);
  if (dnsMode !== undefined) all.push(sql`d.dns_mode = ${dnsMode}`);
  if (names !== undefined) all.push(sql`d.name = any(${names.map(encodeNameColumn)}::text[])`);
  if (search !== undefined && search !== '') {
    const text = search.toLowerCase();
    all.push(sql`(${contains(sql`d.name`, text)} or ${contains(sql`d.unicode`, text)})`);
  }
  return sql.join(all, sql` and `);
}
