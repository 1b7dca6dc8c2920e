// Lists accounts for operators: filtered, sorted and paged.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import {
  CursorError,
  contains,
  countUpTo,
  isBackward,
  type Page,
  type Paged,
  pageSql,
  type SortKey,
  toPage,
} from '../postgres/list-page.ts';
import { ACCOUNT_JSON, type Account, type AccountJson, accountOf } from './accounts.ts';

export const ACCOUNT_SORTS = ['email', 'created_at'] as const;
export const ACCOUNT_ROLES = ['admin', 'reseller', 'client', 'customer'] as const;

interface AccountFilter {
  /** Text that the email or the name contains. */
  readonly search?: string | undefined;
  readonly active?: boolean | undefined;
  readonly role?: (typeof ACCOUNT_ROLES)[number] | undefined;
  /** The plan of new domains; null for accounts without a plan. */
  readonly planSlug?: string | null | undefined;
  readonly providerId?: number | undefined;
}

interface AccountOrder {
  readonly sort: (typeof ACCOUNT_SORTS)[number];
  readonly descending: boolean;
}

/** Each expression has a matching index. */
const SORT_KEYS: Readonly<Record<AccountOrder['sort'], SortKey>> = {
  email: { expression: sql`lower(a.email) collate "C"`, type: 'text' },
  created_at: { expression: sql`a.created_at`, type: 'timestamptz' },
};

/** An account with the details that operators' lists show. */
export interface ListedAccount extends Account {
  readonly hasPassword: boolean;
  readonly hasTotp: boolean;
  /** Number of domains, without deleted ones. */
  readonly domains: number;
}

/** Throws `CursorError` if the cursor is invalid. */
export async function listAccountPage(
  db: Database,
  filter: AccountFilter,
  order: AccountOrder,
  page: Page,
): Promise<Paged<ListedAccount>> {
  if (isBackward(page.cursor)) throw new CursorError('accounts cannot be listed backward');
  const { limit, cursor, offset = 0 } = page;
  const key = SORT_KEYS[order.sort];
  const { behind, direction } = pageSql(order, key, sql`a.id`, cursor);
  const { rows } = await sql<StoredAccount & { id: number; sortKey: string }>`
    with listed as materialized (
      select a.id, ${key.expression} as key from accounts a
      where ${conditions(filter)} and ${behind}
      order by ${key.expression} ${direction}, a.id ${direction} limit ${limit + 1} offset ${offset})
    select ${SHOWN}, a.id, l.key::text as "sortKey"
    from listed l join accounts a on a.id = l.id left join plans p on p.id = a.plan_id
    order by l.key ${direction}, a.id ${direction}`.execute(db);
  const listed = toPage(rows, page, order, decode);
  return { items: listed.items, cursor: listed.cursor };
}

export async function countAccounts(db: Database, filter: AccountFilter): Promise<number> {
  return await countUpTo(db, sql`accounts a where ${conditions(filter)}`);
}

export async function loadListedAccount(db: Database, id: number): Promise<ListedAccount | undefined> {
  const { rows } = await sql<StoredAccount>`
    select ${SHOWN} from accounts a left join plans p on p.id = a.plan_id where a.id = ${id}`.execute(db);
  return rows[0] && decode(rows[0]);
}

/** Loads a client of this reseller. Returns undefined if the account does not exist or is not this reseller's client. */
export async function loadClient(
  db: Database,
  resellerId: number,
  id: number,
): Promise<ListedAccount | undefined> {
  const { rows } = await sql<StoredAccount>`
    select ${SHOWN} from accounts a left join plans p on p.id = a.plan_id
    where a.id = ${id} and a.provider_id = ${resellerId}`.execute(db);
  return rows[0] && decode(rows[0]);
}

interface StoredAccount extends Pick<ListedAccount, 'hasPassword' | 'hasTotp' | 'domains'> {
  readonly account: AccountJson;
}

const SHOWN = sql`${ACCOUNT_JSON} as account, a.password_hash is not null as "hasPassword",
  exists (select from account_totp t where t.account_id = a.id and t.confirmed_at is not null) as "hasTotp",
  (select count(*) from domains d where d.account_id = a.id and d.deleted_at is null) as domains`;

function decode({ account, hasPassword, hasTotp, domains }: StoredAccount): ListedAccount {
  return { ...accountOf(account), hasPassword, hasTotp, domains };
}

function conditions({ search, active, role, planSlug, providerId }: AccountFilter): RawBuilder<unknown> {
  const all = [sql`true`];
  if (active !== undefined) all.push(active ? sql`a.active` : sql`not a.active`);
  if (role === 'admin') all.push(sql`a.is_admin`);
  if (role === 'reseller') all.push(sql`a.is_reseller`);
  if (role === 'client') all.push(sql`a.provider_id is not null`);
  if (role === 'customer') all.push(sql`not a.is_admin and not a.is_reseller and a.provider_id is null`);
  if (planSlug === null) all.push(sql`a.plan_id is null`);
  else if (planSlug !== undefined) all.push(sql`a.plan_id = (select id from plans where slug = ${planSlug})`);
  if (providerId !== undefined) all.push(sql`a.provider_id = ${providerId}`);
  if (search !== undefined && search !== '')
    all.push(sql`(${contains(sql`a.email`, search)} or ${contains(sql`coalesce(a.name, '')`, search)})`);
  return sql.join(all, sql` and `);
}
