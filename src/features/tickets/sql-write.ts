// Opens tickets, adds messages and changes their status. A function that counts an account's tickets locks the
// account before any ticket.

import { sql } from 'kysely';
import { countInWindow } from '../../store/accounts/rate-windows.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import {
  judgeMessage,
  MOST_NEW_MESSAGES,
  MOST_NEW_TICKETS,
  MOST_OPEN_TICKETS,
  type TicketStatus,
} from './rules.ts';
import { loadTicket, MESSAGE_COLUMNS, type Ticket, type TicketMessage } from './sql-read.ts';

interface Refused {
  readonly kind: 'refused';
  readonly message: string;
  /** Set if a limit was reached: time until it may be done again. */
  readonly waitSeconds?: number;
}
interface Changed {
  readonly kind: 'written';
  readonly before: Ticket;
  readonly ticket: Ticket;
}
type Absent = { readonly kind: 'absent' };
type Written = Changed | Absent | Refused;
type Wrote = (Changed & { readonly message: TicketMessage }) | Absent | Refused;

export async function openTicket(
  db: Database,
  order: { readonly accountId: number; readonly subject: string; readonly message: string },
): Promise<{ readonly kind: 'opened'; readonly ticket: Ticket } | Refused> {
  const { accountId, subject, message } = order;
  return await inTransaction(db, async (trx) => {
    const refused = await judgeCounts(trx, accountId, true);
    if (refused !== undefined) return refused;
    const { rows } = await sql<{ id: number }>`
      insert into tickets (account_id, subject, status, priority, messages)
      values (${accountId}, ${subject}, 'open', exists (
        select from domains d join plans p on p.id = d.plan_id
        where d.account_id = ${accountId} and d.deleted_at is null
          and coalesce((d.plan_overrides->>'dedicated_support_enabled')::boolean, p.dedicated_support_enabled)), 1)
      returning id`.execute(trx);
    const { id } = rows[0] as { id: number };
    await addMessage(trx, id, { isStaff: false, accountId, message });
    return { kind: 'opened', ticket: (await loadTicket(trx, id)) as Ticket };
  });
}

interface NewMessage {
  readonly ticketId: number;
  readonly message: string;
  readonly by:
    | { readonly kind: 'account'; readonly accountId: number }
    /** `accountId` is null for the command line. If `tells` is true, the owner is notified, at most hourly. */
    | { readonly kind: 'staff'; readonly accountId: number | null; readonly tells: boolean };
}

const MESSAGES = { limit: MOST_NEW_MESSAGES, seconds: 86_400 };

export async function writeMessage(db: Database, { ticketId, message, by }: NewMessage): Promise<Wrote> {
  return await inTransaction<Wrote>(db, async (trx) => {
    const owner = by.kind === 'account' ? by.accountId : undefined;
    const before = await loadTicket(trx, ticketId, { accountId: owner, lock: true });
    if (before === undefined) return { kind: 'absent' };
    const judged = judgeMessage(before, by.kind);
    if (judged.kind === 'refused') return judged;
    if (by.kind === 'account') {
      const waitSeconds = await countInWindow(trx, `messages:${by.accountId}`, MESSAGES);
      const message = `${MOST_NEW_MESSAGES} messages were written within a day`;
      if (waitSeconds !== undefined) return { kind: 'refused', message, waitSeconds };
    }
    const row = { isStaff: by.kind === 'staff', accountId: by.accountId, message };
    const added = await addMessage(trx, ticketId, row);
    await sql`
      update tickets set status = ${judged.status}, messages = messages + 1, updated_at = clock_timestamp()
      where id = ${ticketId}`.execute(trx);
    if (by.kind === 'staff' && by.tells) await orderTicketMail(trx, ticketId);
    return { kind: 'written', before, ticket: (await loadTicket(trx, ticketId)) as Ticket, message: added };
  });
}

/** `accountId` restricts the search to the account's tickets. Undefined for any account. */
export async function setTicketStatus(
  db: Database,
  order: {
    readonly ticketId: number;
    readonly accountId?: number | undefined;
    readonly status: 'open' | 'closed';
  },
): Promise<Written> {
  const { ticketId, accountId, status } = order;
  return await inTransaction<Written>(db, async (trx) => {
    const found = await loadTicket(trx, ticketId, { accountId });
    if (found === undefined) return { kind: 'absent' };
    const refused = status === 'open' ? await judgeCounts(trx, found.accountId, false) : undefined;
    const before = (await loadTicket(trx, ticketId, { accountId, lock: true })) as Ticket;
    if (before.status === status) return { kind: 'written', before, ticket: before };
    if (refused !== undefined && before.status === 'closed') return refused;
    await sql`
      update tickets set status = ${status}, updated_at = clock_timestamp() where id = ${ticketId}`.execute(
      trx,
    );
    return { kind: 'written', before, ticket: { ...before, status: status satisfies TicketStatus } };
  });
}

/** Locks the account, so that the counts remain exact. */
async function judgeCounts(trx: Database, accountId: number, isNew: boolean): Promise<Refused | undefined> {
  await sql`select from accounts where id = ${accountId} for no key update`.execute(trx);
  const { rows } = await sql<{ open: number; made: number }>`
    select count(*) filter (where status <> 'closed')::integer as open,
      count(*) filter (where created_at > clock_timestamp() - interval '24 hours')::integer as made
    from tickets where account_id = ${accountId}`.execute(trx);
  const { open, made } = rows[0] as { open: number; made: number };
  if (open >= MOST_OPEN_TICKETS)
    return { kind: 'refused', message: `${MOST_OPEN_TICKETS} tickets are open: close one first` };
  if (isNew && made >= MOST_NEW_TICKETS)
    return {
      kind: 'refused',
      message: `${MOST_NEW_TICKETS} tickets were opened in 24 hours: write to one of them`,
    };
  return undefined;
}

async function addMessage(
  trx: Database,
  ticketId: number,
  row: { readonly isStaff: boolean; readonly accountId: number | null; readonly message: string },
): Promise<TicketMessage> {
  const { rows } = await sql<TicketMessage>`
    insert into ticket_messages as m (ticket_id, is_staff, account_id, message)
    values (${ticketId}, ${row.isStaff}, ${row.accountId}, ${row.message}) returning ${MESSAGE_COLUMNS}`.execute(
    trx,
  );
  return rows[0] as TicketMessage;
}

/** Orders a mail without the answer itself, because mail passes through other servers. */
async function orderTicketMail(trx: Database, ticketId: number): Promise<void> {
  await sql`
    with told as (
      update tickets set mailed_at = clock_timestamp()
      where id = ${ticketId} and (mailed_at is null or mailed_at < clock_timestamp() - interval '1 hour')
      returning account_id, id)
    insert into mails (kind, email, account_id, message)
    select 'ticket', a.email, a.id, t.id::text from told t join accounts a on a.id = t.account_id and a.active`.execute(
    trx,
  );
}
