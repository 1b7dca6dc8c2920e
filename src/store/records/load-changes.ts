// Loads the change log of domains, for their members.

import { setTimeout as pause } from 'node:timers/promises';
import { type RawBuilder, sql } from 'kysely';
import type { Name } from '../../dns/name.ts';
import type { DomainStatus } from '../../zone/domain/domain-status.ts';
import type { SavedOperation } from '../../zone/edit/plan-revert.ts';
import type { Actor, Caller } from '../accounts/actor.ts';
import { isClients, roleIn } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../postgres/list-page.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import type { ActorKind, ChangeSource, DomainOperation, Role } from '../postgres/tables/schema.ts';
import type { RuleOperation } from '../rules/rule.ts';
import { decodeOperation, type JsonOperation } from './record-row.ts';

export interface DomainChange {
  readonly id: number;
  readonly domainId: number;
  readonly serial: number;
  readonly at: Date;
  readonly operation: DomainOperation;
  /** `migrate` if a setting of the service changed what is published. */
  readonly source: ChangeSource;
  readonly actor: Actor;
  readonly ops: readonly SavedOperation[];
  readonly rules: readonly RuleOperation[];
  /** `from` is null for a new domain, `to` for a deleted one. */
  readonly status:
    | {
        readonly from: DomainStatus | null;
        readonly to: DomainStatus | null;
        readonly checkId: number | null;
      }
    | undefined;
  readonly reverts: number | undefined;
  /** True if another account owned the domain then. The present owner must not see the addresses of its people. */
  readonly isFormer: boolean;
  /** True if the actor is a global admin now. */
  readonly isByAdmin: boolean;
}

/** A change with its domain and the caller's role. */
interface AccountChange extends DomainChange {
  readonly domainName: Name;
  readonly role: Role;
}

export interface ChangeFilter {
  /** Only changes with a higher id. */
  readonly after?: number | undefined;
  readonly sources?: readonly ChangeSource[] | undefined;
  readonly actors?: readonly ActorKind[] | undefined;
}

interface FeedFilter extends ChangeFilter {
  /** The domains to which a key is restricted. */
  readonly names?: readonly Name[];
}

interface ChangeRow {
  id: number;
  domainId: number;
  serial: number;
  at: Date;
  operation: DomainOperation;
  source: ChangeSource;
  kind: ActorKind;
  accountId: number | null;
  keyId: number | null;
  address: string | null;
  name: string | null;
  ops: JsonOperation[];
  rules: RuleOperation[] | null;
  from: DomainStatus | null;
  to: DomainStatus | null;
  checkId: number | null;
  reverts: number | null;
  isFormer: boolean;
  isByAdmin: boolean;
}

const COLUMNS = sql`c.id, c.domain_id as "domainId", c.serial, c.at, c.operation, c.source, c.actor_kind as kind,
  c.actor_account_id as "accountId", c.actor_key_id as "keyId", c.actor_address as address, c.actor_name as name,
  c.ops, c.rules, c.status_from as "from", c.status_to as "to", c.check_id as "checkId", c.reverts,
  c.account_id <> (select o.account_id from domains o where o.id = c.domain_id) as "isFormer",
  exists (select from accounts x where x.id = c.actor_account_id and x.is_admin) as "isByAdmin"`;

function decodeChange(row: ChangeRow): DomainChange {
  const { id, domainId, serial, at, operation, source, kind, accountId, keyId, address, name } = row;
  const { from, to, checkId, reverts, isFormer, isByAdmin } = row;
  return {
    id,
    domainId,
    serial,
    at,
    operation,
    source,
    actor: {
      kind,
      ...(accountId !== null && { accountId }),
      ...(keyId !== null && { keyId }),
      ...(address !== null && { address }),
      ...(name !== null && { name }),
    },
    ops: row.ops.map(decodeOperation),
    rules: row.rules ?? [],
    status: from === null && to === null ? undefined : { from, to, checkId },
    reverts: reverts ?? undefined,
    isFormer,
    isByAdmin,
  };
}

/** Lists changes, newest first by default. */
export async function listDomainChanges(
  db: Database,
  domainId: number,
  { limit, offset = 0, descending = true, ...rest }: Partial<LogPage> & Pick<LogPage, 'limit'>,
  filter: ChangeFilter = {},
): Promise<DomainChange[]> {
  const { behind, order } = logSql(sql`c.id`, { limit, descending, ...rest });
  const { rows } = await sql<ChangeRow>`
    select ${COLUMNS} from domain_changes c
    where c.domain_id = ${domainId} and ${conditions(filter)} and ${behind}
    order by ${order} limit ${limit} offset ${offset}`.execute(db);
  return rows.map(decodeChange);
}

export async function countDomainChanges(
  db: Database,
  domainId: number,
  filter: ChangeFilter,
): Promise<number> {
  return await countUpTo(db, sql`domain_changes c where c.domain_id = ${domainId} and ${conditions(filter)}`);
}

function conditions({ after = 0, sources, actors }: ChangeFilter): RawBuilder<unknown> {
  const all = [sql`c.id > ${after}`];
  if (sources !== undefined) all.push(sql`c.source = any(${sources}::text[])`);
  if (actors !== undefined) all.push(sql`c.actor_kind = any(${actors}::text[])`);
  return sql.join(all, sql` and `);
}

export async function loadDomainChange(
  db: Database,
  domainId: number,
  id: number,
): Promise<DomainChange | undefined> {
  const { rows } = await sql<ChangeRow>`
    select ${COLUMNS} from domain_changes c where c.id = ${id} and c.domain_id = ${domainId}`.execute(db);
  const [row] = rows;
  return row === undefined ? undefined : decodeChange(row);
}

/**
 * Lists changes of all domains that the caller may see, including own deleted ones, oldest first by default. A domain
 * that was transferred has its earlier changes in the list of the old account, and the others in that of the new one.
 * Ids are assigned before the commit, so a change appears once all changes with lower ids have ended: no change ever
 * appears before a cursor.
 */
export async function listAccountChanges(
  db: Database,
  caller: Caller,
  filter: FeedFilter,
  { limit, offset = 0, descending = false, ...rest }: Partial<LogPage> & Pick<LogPage, 'limit'>,
): Promise<AccountChange[]> {
  const { isAdmin } = caller;
  const page = { limit: limit + offset, descending, ...rest };
  const { rows: any } = await sql`${visibleChanges(caller, filter, { ...page, limit: 1 })}`.execute(db);
  const settled = any.length === 0 ? undefined : await settledId(db);
  if (settled === undefined) return [];
  const { order } = logSql(sql`c.id`, page);
  const { rows } = await sql<ChangeRow & { domainName: string; role: Role }>`
    select ${COLUMNS}, d.name as "domainName",
      case when ${isAdmin} then 'owner' else coalesce(${roleIn(sql`d`, caller)}, 'viewer') end as role
    from (${visibleChanges(caller, filter, page, settled)}) v
      join domain_changes c on c.id = v.id join domains d on d.id = c.domain_id
    order by ${order} limit ${limit} offset ${offset}`.execute(db);
  return rows.map(({ domainName, role, ...row }) => ({
    ...decodeChange(row),
    domainName: decodeNameColumn(domainName),
    role,
  }));
}

export async function countAccountChanges(db: Database, caller: Caller, filter: FeedFilter): Promise<number> {
  return await countUpTo(db, sql`(${visibleChanges(caller, filter, { limit: null, descending: false })}) v`);
}

const SETTLE_TIMEOUT_MS = 250;
const SETTLE_POLL_MS = 2;

/**
 * Returns an id up to which every change is committed or never will be, or undefined if that takes too long. A
 * transaction holds a lock of the sequence from before it draws an id until it ends.
 */
async function settledId(db: Database): Promise<number | undefined> {
  const drawn = await sql<{ id: number }>`select last_value as id from change_version`.execute(db);
  const deadlineMs = performance.now() + SETTLE_TIMEOUT_MS;
  let waitFor: Set<string> | undefined;
  for (;;) {
    const { rows } = await sql<{ holder: string }>`
      select virtualtransaction as holder from pg_locks
      where locktype = 'relation' and relation = 'change_version'::regclass and mode = 'RowExclusiveLock'
        and database = (select oid from pg_database where datname = current_database())
        and pid <> pg_backend_pid()`.execute(db);
    const holders = new Set(rows.map(({ holder }) => holder));
    waitFor = waitFor === undefined ? holders : new Set([...waitFor].filter((holder) => holders.has(holder)));
    if (waitFor.size === 0) return drawn.rows[0]?.id;
    if (performance.now() > deadlineMs) return undefined;
    await pause(SETTLE_POLL_MS);
  }
}

/** Each branch has its own limit, so that each uses its index. `settled` is the highest id to list. */
function visibleChanges(
  { accountId, isAdmin, isReseller = false }: Caller,
  { names, ...filter }: FeedFilter,
  { limit, ...page }: Omit<LogPage, 'limit'> & { readonly limit: number | null },
  settled?: number,
): RawBuilder<unknown> {
  const { behind, order } = logSql(sql`c.id`, { limit: 0, ...page });
  const named =
    names === undefined
      ? sql`true`
      : sql`c.domain_id in (select id from domains where name = any(${names.map(encodeNameColumn)}::text[]))`;
  const until = settled === undefined ? sql`true` : sql`c.id <= ${settled}`;
  const wanted = sql`${conditions(filter)} and ${behind} and ${until} and ${named} order by ${order} limit ${limit}`;
  if (isAdmin) return sql`select c.id from domain_changes c where ${wanted}`;
  const { order: shared } = logSql(sql`s.id`, { limit: 0, ...page });
  const isOthers = isReseller ? sql`not ${isClients(sql`d`, accountId)}` : sql`true`;
  const ofClients = sql`
    union all
    (select s.id from accounts o cross join lateral (
       select c.id from domain_changes c join domains d on d.id = c.domain_id and d.deleted_at is null
       where c.account_id = o.id and ${isClients(sql`d`, accountId)} and ${wanted}) s
     where o.provider_id = ${accountId} order by ${shared} limit ${limit})`;
  return sql`
    (select c.id from domain_changes c where c.account_id = ${accountId} and ${wanted})
    union all
    (select s.id from memberships m join domains d on d.id = m.domain_id and d.deleted_at is null
       cross join lateral (select c.id from domain_changes c where c.domain_id = m.domain_id
         and c.account_id <> ${accountId} and ${wanted}) s
     where m.account_id = ${accountId} and d.account_id <> ${accountId} and ${isOthers}
     order by ${shared} limit ${limit})
    ${isReseller ? ofClients : sql``}`;
}
