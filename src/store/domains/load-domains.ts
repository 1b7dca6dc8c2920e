// Loads domains for those who may see them: their owner, members, the reseller that manages the owner, and global admins.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DnsMode, DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Caller } from '../accounts/actor.ts';
import { isClients, roleIn } from '../accounts/role-in.ts';
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
import type { Role } from '../postgres/tables/account-tables.ts';
import { ANAME_TROUBLES } from '../records/aname-troubles.ts';
import {
  type Domain,
  decodeDomain,
  RESTORABLE_DAYS,
  SHOWN_COLUMNS,
  SHOWN_TABLES,
  type ShownRow,
  type VisibleDomain,
} from './domain.ts';

/**
 * Undefined when there is no such domain, or the caller has no role in it. Of several domains of the name, the caller's own
 * comes first, then one that is shared with the caller; for global admins the one that is answered, then the oldest.
 */
export async function loadDomain(
  db: Database,
  caller: Caller,
  name: Name,
): Promise<VisibleDomain | undefined> {
  return await loadVisible(db, caller, sql`d.name = ${encodeNameColumn(name)}`);
}

/** The same by the domain's id. */
export async function loadVisibleById(
  db: Database,
  caller: Caller,
  id: number,
): Promise<VisibleDomain | undefined> {
  return await loadVisible(db, caller, sql`d.id = ${id}`);
}

/**
 * A domain of a client of this reseller, by its id. Whoever acts for the client has the client's role. Undefined, by the same
 * statement: there is none, or it is somebody else's.
 */
export async function loadClientsDomain(
  db: Database,
  resellerId: number,
  id: number,
): Promise<VisibleDomain | undefined> {
  const caller = { accountId: resellerId, isAdmin: false, isReseller: true };
  const found = await loadVisible(db, caller, sql`d.id = ${id} and ${isClients(sql`d`, resellerId)}`);
  return found && { ...found, myRole: 'owner' };
}

async function loadVisible(
  db: Database,
  caller: Caller,
  where: RawBuilder<unknown>,
): Promise<VisibleDomain | undefined> {
  const { accountId, isAdmin } = caller;
  const { rows } = await sql<ShownRow & { myRole: Role; settings: string | null }>`
    select ${SHOWN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles", ${SETTINGS_TEXT} as settings,
      case when ${isAdmin} then 'owner' else role.mine end as "myRole"
    from ${SHOWN_TABLES} cross join lateral (select ${roleIn(sql`d`, caller)} as mine) role
    where ${where} and d.deleted_at is null and (${isAdmin} or role.mine is not null)
    order by d.account_id <> ${accountId}, role.mine is null, d.zone_id is null, d.id limit 1`.execute(db);
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

/** For operators: the domains of this name, of any account; the one that is answered first, then the oldest. */
export async function findDomains(db: Database, name: Name): Promise<readonly Domain[]> {
  const { rows } = await sql<ShownRow & { settings: string | null }>`
    select ${SHOWN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles", ${SETTINGS_TEXT} as settings from ${SHOWN_TABLES}
    where d.name = ${encodeNameColumn(name)} and d.deleted_at is null order by d.zone_id is null, d.id`.execute(
    db,
  );
  return rows.map(({ settings, ...row }) => decodeDomain(row, decodePublishSettings(settings)));
}

/** The domains of this name that `restoreDomain` can bring back, of any account, the last deleted first. */
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

const IS_RESTORABLE = sql`d.deleted_at >= clock_timestamp() - make_interval(days => ${RESTORABLE_DAYS}::integer)`;

/** Loads a domain, even a deleted one. */
export async function loadDomainById(db: Database, id: number): Promise<Domain | undefined> {
  return await loadOne(db, sql`d.id = ${id}`);
}

async function loadOne(db: Database, where: RawBuilder<unknown>): Promise<Domain | undefined> {
  const { rows } = await sql<ShownRow>`
    select ${SHOWN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles" from ${SHOWN_TABLES} where ${where}`.execute(
    db,
  );
  const [row] = rows;
  return row === undefined ? undefined : decodeDomain(row, await loadPublishSettings(db));
}

export const DOMAIN_SORTS = ['name', 'created_at', 'status', 'next_check_at'] as const;
type DomainSort = (typeof DOMAIN_SORTS)[number];

export interface DomainFilter {
  /** Text in the name, or in its Unicode form. */
  readonly search?: string;
  readonly statuses?: readonly DomainStatus[];
  readonly dnsMode?: DnsMode;
  /** The role that the caller has. */
  readonly role?: Role;
  /** The domains to which a key is narrowed. */
  readonly names?: readonly Name[];
  /** For operators: the domains of this account. */
  readonly accountId?: number;
  /** For operators: list the domains that can be restored, instead of existing ones. */
  readonly deleted?: boolean;
}

export interface DomainOrder {
  readonly sort: DomainSort;
  readonly descending: boolean;
}

interface DomainKey extends SortKey {
  /** The table that has the key: `d`, or `c` for that of checks. */
  readonly table: 'd' | 'c';
  /** The domain's id in that table. */
  readonly id: RawBuilder<unknown>;
}

const OWN_ID = { table: 'd', id: sql`d.id` } as const;

/** Each key has an index, with the same expression. */
const SORT_KEYS: Readonly<Record<DomainSort, DomainKey>> = {
  name: { ...OWN_ID, expression: sql`d.name`, type: 'text' },
  created_at: { ...OWN_ID, expression: sql`d.created_at`, type: 'timestamptz' },
  status: { ...OWN_ID, expression: sql`d.status`, type: 'text' },
  next_check_at: {
    table: 'c',
    id: sql`c.domain_id`,
    expression: sql`coalesce(c.next_at, 'infinity')`,
    type: 'timestamptz',
  },
};

/** Throws `CursorError`. */
export async function listDomains(
  db: Database,
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
  page: Page,
): Promise<Paged<VisibleDomain>> {
  const statement = listStatement(caller, filter, order, page);
  if (statement === undefined) return { items: [], cursor: undefined };
  const settings = await loadPublishSettings(db);
  const { rows } = await statement.execute(db);
  return toPage(rows, page.limit, order, (row) =>
    Object.assign(decodeDomain(row, settings), { myRole: row.myRole }),
  );
}

interface ListedRow extends ShownRow {
  readonly myRole: Role;
  readonly sortKey: string;
}

/** Undefined: the caller sees no domain with this filter. */
function listStatement(
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
  { limit, cursor, offset = 0 }: Page,
): RawBuilder<ListedRow> | undefined {
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, key.id, cursor);
  const wanted = offset + limit + 1;
  // Each branch is bounded by itself, so that each goes along its index; `offset 0` keeps the planner from reading all domains
  // for the few that are listed.
  const branches = visibleBranches(caller, filter, key.table).map(
    (branch) => sql`(select d.id, ${key.expression} as key, ${branch.role} as role from ${branch.tables}
      where ${branch.where} and ${behind} order by 2 ${direction}, 1 ${direction} limit ${wanted})`,
  );
  if (branches.length === 0) return undefined;
  return sql`
    with listed as (
      select * from (${sql.join(branches, sql` union all `)}) b
      order by key ${direction}, id ${direction} offset ${offset} limit ${limit + 1})
    select shown.*, l.role as "myRole", l.key::text as "sortKey"
    from listed l cross join lateral (
      select ${SHOWN_COLUMNS}, ${ANAME_TROUBLES} as "anameTroubles" from ${SHOWN_TABLES} where d.id = l.id
      offset 0) shown
    order by l.key ${direction}, l.id ${direction}`;
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

/**
 * Selects own domains, shared ones and those of clients; for a global admin all are own ones. `first`: the table that has the
 * sort key.
 */
function visibleBranches(
  { accountId, isAdmin, isReseller = false }: Caller,
  filter: DomainFilter,
  first: DomainKey['table'] = 'd',
): Branch[] {
  const { role } = filter;
  const where = conditions(filter, first);
  const branches: Branch[] = [];
  const checks = first === 'c' ? sql` join domain_checks c on c.domain_id = d.id` : sql``;
  if (role === undefined || role === 'owner') {
    const own = isAdmin ? where : sql`${sql.ref(first)}.account_id = ${accountId} and ${where}`;
    branches.push({ tables: sql`domains d${checks}`, where: own, role: sql`'owner'` });
  }
  if (!isAdmin && role !== 'owner') {
    const granted = role === undefined ? sql`true` : sql`m.role = ${role}`;
    const isOthers = isReseller ? sql`not ${isClients(sql`d`, accountId)}` : sql`true`;
    branches.push({
      tables: sql`memberships m join domains d on d.id = m.domain_id${checks}`,
      where: sql`m.account_id = ${accountId} and d.account_id <> ${accountId} and ${isOthers} and ${granted} and ${where}`,
      role: sql`m.role`,
    });
  }
  if (!isAdmin && isReseller && (role === undefined || role === 'admin')) {
    branches.push({
      tables: sql`accounts o join domains d on d.account_id = o.id${checks}`,
      where: sql`o.provider_id = ${accountId} and ${where}`,
      role: sql`'admin'`,
    });
  }
  return branches;
}

function conditions(
  { search, statuses, dnsMode, names, accountId, deleted = false }: DomainFilter,
  first: DomainKey['table'],
): RawBuilder<unknown> {
  const all = [deleted ? IS_RESTORABLE : sql`d.deleted_at is null`];
  if (first === 'c' && !deleted) all.push(sql`not c.deleted`);
  if (accountId !== undefined) all.push(sql`${sql.ref(first)}.account_id = ${accountId}`);
  if (statuses !== undefined) all.push(sql`d.status = any(${statuses}::text[])`);
  if (dnsMode !== undefined) all.push(sql`d.dns_mode = ${dnsMode}`);
  if (names !== undefined) all.push(sql`d.name = any(${names.map(encodeNameColumn)}::text[])`);
  if (search !== undefined && search !== '') {
    const text = search.toLowerCase();
    all.push(sql`(${contains(sql`d.name`, text)} or ${contains(sql`d.unicode`, text)})`);
  }
  return sql.join(all, sql` and `);
}
