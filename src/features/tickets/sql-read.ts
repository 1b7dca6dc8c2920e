// Loads tickets and their messages.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../../store/postgres/database.ts';
import { countUpTo, type LogPage, logSql } from '../../store/postgres/list-page.ts';
import type { TicketStatus } from './rules.ts';

export interface Ticket {
  readonly id: number;
  readonly accountId: number;
  readonly email: string;
  readonly subject: string;
  readonly status: TicketStatus;
  /** True if a plan of the account included dedicated support when the ticket was opened. */
  readonly priority: boolean;
  readonly createdAt: Date;
  readonly updatedAt: Date;
  /** Number of messages. */
  readonly messages: number;
}

export interface TicketMessage {
  readonly id: number;
  readonly isStaff: boolean;
  /** Null if it was written on the command line. */
  readonly accountId: number | null;
  readonly message: string;
  readonly createdAt: Date;
}

const COLUMNS = sql`t.id, t.account_id as "accountId", a.email, t.subject, t.status, t.priority,
  t.created_at as "createdAt", t.updated_at as "updatedAt", t.messages`;

export interface TicketFilter {
  readonly accountId?: number | undefined;
  readonly status?: TicketStatus | undefined;
  readonly priority?: boolean | undefined;
  /** Only tickets with a higher id. */
  readonly after?: number | undefined;
}

function wanted({ accountId, status, priority, after = 0 }: TicketFilter): RawBuilder<unknown> {
  const parts = [
    sql`t.id > ${after}`,
    ...(accountId === undefined ? [] : [sql`t.account_id = ${accountId}`]),
    ...(status === undefined ? [] : [sql`t.status = ${status}`]),
    ...(priority === undefined ? [] : [sql`t.priority = ${priority}`]),
  ];
  return sql.join(parts, sql` and `);
}

export async function listTickets(db: Database, filter: TicketFilter, page: LogPage): Promise<Ticket[]> {
  const { behind, order } = logSql(sql`t.id`, page);
  const { rows } = await sql<Ticket>`
    select ${COLUMNS} from tickets t join accounts a on a.id = t.account_id
    where ${wanted(filter)} and ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows;
}

export async function countTickets(db: Database, filter: TicketFilter): Promise<number> {
  return await countUpTo(db, sql`tickets t where ${wanted(filter)}`);
}

/** `accountId` restricts the search to the account's tickets. `lock` locks the ticket. */
export async function loadTicket(
  db: Database,
  id: number,
  { accountId, lock = false }: { readonly accountId?: number | undefined; readonly lock?: boolean } = {},
): Promise<Ticket | undefined> {
  const own = accountId === undefined ? sql`true` : sql`t.account_id = ${accountId}`;
  const { rows } = await sql<Ticket>`
    select ${COLUMNS} from tickets t join accounts a on a.id = t.account_id
    where t.id = ${id} and ${own} ${lock ? sql`for no key update of t` : sql``}`.execute(db);
  return rows[0];
}

export const MESSAGE_COLUMNS = sql`m.id, m.is_staff as "isStaff", m.account_id as "accountId", m.message,
  m.created_at as "createdAt"`;

/** `after` selects only messages with a higher id. */
export async function listMessages(
  db: Database,
  { ticketId, after = 0 }: { readonly ticketId: number; readonly after?: number | undefined },
  page: LogPage,
): Promise<TicketMessage[]> {
  const { behind, order } = logSql(sql`m.id`, page);
  const { rows } = await sql<TicketMessage>`
    select ${MESSAGE_COLUMNS} from ticket_messages m
    where m.ticket_id = ${ticketId} and m.id > ${after} and ${behind}
    order by ${order} limit ${page.limit} offset ${page.offset ?? 0}`.execute(db);
  return rows;
}

export async function countMessages(
  db: Database,
  { ticketId, after = 0 }: { readonly ticketId: number; readonly after?: number | undefined },
): Promise<number> {
  return await countUpTo(db, sql`ticket_messages m where m.ticket_id = ${ticketId} and m.id > ${after}`);
}
