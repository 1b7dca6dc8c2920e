// Converts tickets and their messages to API resources, one by one or in lists.

import { z } from 'zod';
import { answerList, type ListCall, logQuery, pagesById } from '../../api/calls/answer-list.ts';
import type { Database } from '../../store/postgres/database.ts';
import {
  type AdminTicket,
  type AdminTicketMessage,
  type Ticket,
  type TicketMessage,
  TicketStatus,
} from './schema.ts';
import {
  countMessages,
  countTickets,
  listMessages,
  listTickets,
  type TicketMessage as StoredMessage,
  type Ticket as StoredTicket,
  type TicketFilter,
} from './sql-read.ts';

export function printTicket(ticket: StoredTicket): z.input<typeof Ticket> {
  const { id, subject, status, messages, createdAt, updatedAt } = ticket;
  return {
    id,
    subject,
    status,
    message_count: messages,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

export function printAdminTicket(ticket: StoredTicket): z.input<typeof AdminTicket> {
  const { accountId, email, priority } = ticket;
  return { ...printTicket(ticket), user_id: accountId, email, priority };
}

/** Does not reveal who of the staff answered. */
export function printMessage(written: StoredMessage): z.input<typeof TicketMessage> {
  const { id, isStaff, message, createdAt } = written;
  return { id, author: isStaff ? 'staff' : 'account', message, created_at: createdAt.toISOString() };
}

export function printAdminMessage(written: StoredMessage): z.input<typeof AdminTicketMessage> {
  const { accountId } = written;
  return { ...printMessage(written), ...(accountId !== null && { user_id: accountId }) };
}

/** A message may have 10,000 characters, of up to four bytes. */
const MESSAGES_READ_AT_ONCE = 20;

export function ticketsQuery(first: 'newest' | 'oldest') {
  return z.object({ status: TicketStatus.optional(), ...logQuery(first) });
}
export const MESSAGES_QUERY = z.object(logQuery('oldest'));

interface TicketList<P> {
  readonly first: 'newest' | 'oldest';
  readonly filter: Pick<TicketFilter, 'accountId' | 'priority'>;
  readonly print: (ticket: StoredTicket) => P;
}

export function answerTickets<P>(
  db: Database,
  call: ListCall & { readonly query: z.output<ReturnType<typeof ticketsQuery>> },
  { first, filter: of, print }: TicketList<P>,
) {
  const { status, after, sort } = call.query;
  const filter = { ...of, status, after };
  return answerList(call, {
    load: pagesById<StoredTicket>(
      sort?.descends ?? first === 'newest',
      (page) => listTickets(db, filter, page),
      ({ id }) => id,
    ),
    count: () => countTickets(db, filter),
    print: async (tickets) => tickets.map(print),
  });
}

export function answerMessages<P>(
  db: Database,
  call: ListCall & { readonly query: z.output<typeof MESSAGES_QUERY> },
  ticketId: number,
  print: (message: StoredMessage) => P,
) {
  const { after, sort } = call.query;
  const of = { ticketId, after };
  return answerList(call, {
    load: pagesById<StoredMessage>(
      sort?.descends ?? false,
      (page) => listMessages(db, of, page),
      ({ id }) => id,
    ),
    count: () => countMessages(db, of),
    print: async (messages) => messages.map(print),
    readAtOnce: MESSAGES_READ_AT_ONCE,
  });
}
