// Lists the domains that a caller may see as owner, member, reseller of the owner, or global admin.

import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DnsMode, DomainStatus } from '../../zone/domain/domain-status.ts';
import type { Caller } from '../accounts/actor.ts';
import { isClients } from '../accounts/actor.ts';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import type { Database } from '../postgres/database.ts';
import { type Page, type Paged, pageSql, type SortKey, streamPages, toPage } from '../postgres/list-page.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';
import type { Role } from '../postgres/tables/schema.ts';
import { ANAME_PROBLEMS } from '../records/aname-targets.ts';
import { decodeDomain } from './decode-domain.ts';
import type { ListedDomain } from './domain.ts';
import { IS_RESTORABLE, SHOWN_COLUMNS, SHOWN_TABLES, type ShownRow } from './domain-row.ts';
import { indexConditions, isNarrowed, type Narrowing, narrowingConditions } from './find-narrowed.ts';

export const DOMAIN_SORTS = ['name', 'created_at', 'status', 'next_check_at'] as const;
type DomainSort = (typeof DOMAIN_SORTS)[number];

export interface DomainFilter extends Narrowing {
  readonly statuses?: readonly DomainStatus[];
  readonly dnsMode?: DnsMode;
  readonly role?: Role;
  /** The domains to which a key is restricted. */
  readonly names?: readonly Name[];
  /** For operators: the domains of this account. */
  readonly accountId?: number;
  /** For operators: lists domains that can be restored instead of existing ones. */
  readonly deleted?: boolean;
}

export interface DomainOrder {
  readonly sort: DomainSort;
  readonly descending: boolean;
}

interface DomainKey extends SortKey {
  /** The table with the key: `d` for domains, `c` for checks. */
  readonly table: 'd' | 'c';
  /** The domain's id in that table. */
  readonly id: RawBuilder<unknown>;
}

const OWN_ID = { table: 'd', id: sql`d.id` } as const;

/** Each expression has a matching index. */
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

/** Throws `CursorError` if the cursor is invalid. */
export async function listDomains(
  db: Database,
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
  page: Page,
): Promise<Paged<ListedDomain>> {
  const statement = listStatement(caller, filter, order, page);
  if (statement === undefined) return { items: [], cursor: undefined };
  const settings = await loadPublishSettings(db);
  const { rows } = await statement.execute(db);
  return toPage(rows, page, order, (row) =>
    Object.assign(decodeDomain(row, settings), { myRole: row.myRole, changedAt: row.changedAt }),
  );
}

interface ListedRow extends ShownRow {
  readonly myRole: Role;
  readonly sortKey: string;
  readonly changedAt: Date;
}

/** Time of the last change of the domain `d`: one index lookup. */
const CHANGED_AT = sql`coalesce(
  (select h.at from domain_changes h where h.domain_id = d.id order by h.id desc limit 1), d.created_at)`;

/** Returns undefined if the filter excludes every domain that the caller may see. */
function listStatement(
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
  { limit, cursor, offset = 0 }: Page,
): RawBuilder<ListedRow> | undefined {
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, key.id, cursor);
  const wanted = offset + limit + 1;
  // Each branch has its own limit, so that each uses its index. `offset 0` keeps the planner from reading all domains
  // for the few that are listed.
  const branches = visibleBranches(caller, filter, key.table).flatMap((branch) => {
    const select = (tables: RawBuilder<unknown>, bound: RawBuilder<unknown>) =>
      sql`(select d.id, ${key.expression} as key, ${branch.role} as role from ${tables}
        where ${bound} and ${branch.where} and ${behind} order by 2 ${direction}, 1 ${direction} limit ${wanted})`;
    if (branch.found === undefined) return [select(branch.tables, sql`true`)];
    // Only one of the two is executed.
    return [
      select(AMONG_FOUND[key.table], sql`${FOUND} <= ${MOST_FOUND}`),
      select(branch.tables, sql`${FOUND} > ${MOST_FOUND}`),
    ];
  });
  if (branches.length === 0) return undefined;
  const found = visibleBranches(caller, filter).find((branch) => branch.found !== undefined);
  return sql`
    with ${found?.found === undefined ? sql`` : sql`found as materialized (${found.found} limit ${MOST_FOUND + 1}),`}
    listed as (
      select * from (${sql.join(branches, sql` union all `)}) b
      order by key ${direction}, id ${direction} offset ${offset} limit ${limit + 1})
    select shown.*, l.role as "myRole", l.key::text as "sortKey"
    from listed l cross join lateral (
      select ${SHOWN_COLUMNS}, ${ANAME_PROBLEMS} as "anameProblems", ${CHANGED_AT} as "changedAt"
      from ${SHOWN_TABLES} where d.id = l.id offset 0) shown
    order by l.key ${direction}, l.id ${direction}`;
}

/** Up to this many matches are sorted. More are found by reading the list in order. */
const MOST_FOUND = 2000;
const FOUND = sql`(select count(*) from found)`;

/** `offset 0` makes Postgres look up the matches row by row. */
const AMONG_FOUND: Readonly<Record<DomainKey['table'], RawBuilder<unknown>>> = {
  d: sql`found f cross join lateral (select * from domains x where x.id = f.id offset 0) d`,
  c: sql`found f cross join lateral (select * from domains x where x.id = f.id offset 0) d
    cross join lateral (select * from domain_checks x where x.domain_id = f.id offset 0) c`,
};

/** Streams all domains, in bounded memory. */
export function streamDomains(
  db: Database,
  caller: Caller,
  filter: DomainFilter,
  order: DomainOrder,
): AsyncGenerator<ListedDomain> {
  return streamPages((page) => listDomains(db, caller, filter, order, page));
}

export async function countDomains(db: Database, caller: Caller, filter: DomainFilter): Promise<number> {
  let count = 0;
  for (const { tables, where, found } of visibleBranches(caller, filter)) {
    const all = found === undefined ? sql`${tables} where ${where}` : sql`(${found}) f`;
    const { rows } = await sql<{ count: number }>`select count(*) from ${all}`.execute(db);
    count += rows[0]?.count ?? 0;
  }
  return count;
}

interface Branch {
  readonly tables: RawBuilder<unknown>;
  readonly where: RawBuilder<unknown>;
  readonly role: RawBuilder<unknown>;
  /** Selects the ids of all domains that match an indexed filter condition. Undefined if the filter has none. */
  readonly found?: RawBuilder<unknown> | undefined;
}

/** Selects own domains, shared ones and those of clients. A global admin owns all. `first` is the table with the sort key. */
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
    const found = findStatement(filter, isAdmin ? filter.accountId : accountId);
    branches.push({ tables: sql`domains d${checks}`, where: own, role: sql`'owner'`, found });
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

/** Returns undefined for deleted domains, which have no indexes. */
function findStatement(filter: DomainFilter, ofAccount: number | undefined): RawBuilder<unknown> | undefined {
  if (filter.deleted || !isNarrowed(filter)) return undefined;
  const all = [
    ...indexConditions(filter, ofAccount),
    ...(ofAccount === undefined ? [] : [sql`d.account_id = ${ofAccount}`]),
    conditions(filter, 'd'),
  ];
  return sql`select d.id from domains d where ${sql.join(all, sql` and `)}`;
}

function conditions(filter: DomainFilter, first: DomainKey['table']): RawBuilder<unknown> {
  const { statuses, dnsMode, names, accountId, deleted = false } = filter;
  const all = [deleted ? IS_RESTORABLE : sql`d.deleted_at is null`];
  if (first === 'c' && !deleted) all.push(sql`not c.deleted`);
  if (accountId !== undefined) all.push(sql`${sql.ref(first)}.account_id = ${accountId}`);
  if (statuses !== undefined) all.push(sql`d.status = any(${statuses}::text[])`);
  if (dnsMode !== undefined) all.push(sql`d.dns_mode = ${dnsMode}`);
  if (names !== undefined) all.push(sql`d.name = any(${names.map(encodeNameColumn)}::text[])`);
  all.push(...narrowingConditions(filter));
  return sql.join(all, sql` and `);
}
