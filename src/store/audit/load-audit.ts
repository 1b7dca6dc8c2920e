// Reads the audit log of a domain, of an account, or of the whole service. An index of ids supports each filter.

import { type RawBuilder, sql } from 'kysely';
import type { Actor } from '../accounts/actor.ts';
import type { Database } from '../postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../postgres/list-page.ts';
import type { ActorKind } from '../postgres/tables/schema.ts';
import type { AuditAction } from './audit-actions.ts';
import type { Told } from './tell-audit.ts';

export interface AuditRow {
  readonly id: number;
  readonly at: Date;
  readonly action: AuditAction;
  readonly actor: Actor;
  /** True if the actor is a global admin now. Customers see no more about the actor than this. */
  readonly isByAdmin: boolean;
  /** True if another account owned the domain then. The present owner must not see the addresses of its people. */
  readonly isFormer: boolean;
  readonly accountId: number | null;
  readonly domainId: number | null;
  readonly changeId: number | null;
  readonly targetId: number | null;
  readonly targetName: string | null;
  readonly before: Told | null;
  readonly after: Told | null;
}

export interface AuditFilter {
  /** Only rows with a higher id. */
  readonly after?: number | undefined;
  readonly actions?: readonly AuditAction[] | undefined;
  readonly actors?: readonly ActorKind[] | undefined;
  /** The account that acted. */
  readonly actorId?: number | undefined;
  /** The account that the row is about. */
  readonly accountId?: number | undefined;
  readonly domainId?: number | undefined;
  readonly since?: Date | undefined;
  readonly until?: Date | undefined;
}

interface StoredRow extends Omit<AuditRow, 'actor'> {
  kind: ActorKind;
  actorId: number | null;
  keyId: number | null;
  address: string | null;
  name: string | null;
}

/** Lists rows, newest first by default. */
export async function listAudit(
  db: Database,
  filter: AuditFilter,
  { limit, offset = 0, descending = true, ...rest }: Partial<LogPage> & Pick<LogPage, 'limit'>,
): Promise<AuditRow[]> {
  const page = { limit, descending, ...rest };
  const { order } = logSql(sql`l.id`, page);
  const { rows } = await sql<StoredRow>`
    select l.id, l.at, l.action, l.actor_kind as kind, l.actor_account_id as "actorId", l.actor_key_id as "keyId",
      l.actor_address as address, l.actor_name as name, coalesce(x.is_admin, false) as "isByAdmin",
      exists (select from audit_log m where m.action = 'domain.move' and m.domain_id = l.domain_id and m.id > l.id) as "isFormer",
      l.account_id as "accountId", l.domain_id as "domainId", l.change_id as "changeId", l.target_id as "targetId",
      l.target_name as "targetName", l.before, l.after
    from (${wantedIds(filter, page, limit + offset)}) w
      join audit_log l on l.id = w.id left join accounts x on x.id = l.actor_account_id
    order by ${order} limit ${limit} offset ${offset}`.execute(db);
  return rows.map(({ kind, actorId, keyId, address, name, ...row }) => ({
    ...row,
    actor: {
      kind,
      ...(actorId !== null && { accountId: actorId }),
      ...(keyId !== null && { keyId }),
      ...(address !== null && { address }),
      ...(name !== null && { name }),
    },
  }));
}

export async function countAudit(db: Database, filter: AuditFilter): Promise<number> {
  return await countUpTo(
    db,
    sql`audit_log l where ${sql.join(conditions(filter, filter.actions), sql` and `)}`,
  );
}

/** Selects ids with one limited branch per action, so that rare actions are found by the index of actions. */
function wantedIds(filter: AuditFilter, page: LogPage, most: number): RawBuilder<unknown> {
  const { behind, order } = logSql(sql`l.id`, page);
  const branch = (actions: readonly AuditAction[] | undefined) => sql`(
    select l.id from audit_log l
    where ${sql.join([...conditions(filter, actions), behind], sql` and `)} order by ${order} limit ${most})`;
  const { actions } = filter;
  if (actions === undefined) return branch(undefined);
  const branches = [...new Set(actions)].map((action) => branch([action]));
  const { order: ofAll } = logSql(sql`b.id`, page);
  return sql`select b.id from (${sql.join(branches, sql` union all `)}) b order by ${ofAll} limit ${most}`;
}

/** Concurrent transactions insert rows almost in the order of ids; this covers the difference. */
const OVERLAP = 10_000;

function conditions(
  { after, actors, actorId, accountId, domainId, since, until }: AuditFilter,
  actions: readonly AuditAction[] | undefined,
): RawBuilder<unknown>[] {
  const all = [sql`true`];
  if (after !== undefined) all.push(sql`l.id > ${after}`);
  if (actions?.length === 1) all.push(sql`l.action = ${actions[0]}`);
  else if (actions !== undefined) all.push(sql`l.action = any(${actions}::text[])`);
  // Constants, so that the planner can use a partial index.
  if (actors !== undefined) all.push(sql`l.actor_kind in (${sql.join(actors.map((kind) => sql.lit(kind)))})`);
  if (actorId !== undefined) all.push(sql`l.actor_account_id = ${actorId}`);
  if (accountId !== undefined) all.push(sql`l.account_id = ${accountId}`);
  if (domainId !== undefined) all.push(sql`l.domain_id = ${domainId}`);
  if (since !== undefined) {
    all.push(sql`l.at >= ${since}`);
    all.push(sql`l.id >= coalesce((
      select t.id from audit_log t where t.at >= ${since} order by t.at limit 1), 9000000000000000) - ${OVERLAP}::bigint`);
  }
  if (until !== undefined) {
    all.push(sql`l.at < ${until}`);
    all.push(sql`l.id <= coalesce((
      select t.id from audit_log t where t.at < ${until} order by t.at desc limit 1), 0) + ${OVERLAP}::bigint`);
  }
  return all;
}
