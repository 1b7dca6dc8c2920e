// Answers lists of tickets, of one's own account or of all, and of what was written in one.

import { z } from 'zod';
import type { Database } from '../../store/postgres/database.ts';
import {
  countMessages,
  countTickets,
  listMessages,
  listTickets,
  type Ticket,
  type TicketFilter,
  type TicketMessage,
} from '../../store/tickets/load-tickets.ts';
import { TicketStatus } from '../schemas/money/ticket.ts';
import { answerList, type ListCall, logQuery, pagesById } from './paging.ts';

/** A message may have 10,000 characters, of up to four bytes. */
const MESSAGES_READ_AT_ONCE = 20;

export function ticketsQuery(first: 'newest' | 'oldest') {
  return z.object({ status: TicketStatus.optional(), ...logQuery(first) });
}
export const MESSAGES_QUERY = z.object(logQuery('oldest'));

interface TicketList<P> {
  readonly first: 'newest' | 'oldest';
  readonly filter: Pick<TicketFilter, 'accountId' | 'priority'>;
  readonly print: (ticket: Ticket) => P;
}

export function answerTickets<P>(
  db: Database,
  call: ListCall & { readonly query: z.output<ReturnType<typeof ticketsQuery>> },
  { first, filter: of, print }: TicketList<P>,
) {
  const { status, after, sort } = call.query;
  const filter = { ...of, status, after };
  return answerList(call, {
    load: pagesById<Ticket>(
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
  print: (message: TicketMessage) => P,
) {
  const { after, sort } = call.query;
  const of = { ticketId, after };
  return answerList(call, {
    load: pagesById<TicketMessage>(
      sort?.descends ?? false,
      (page) => listMessages(db, of, page),
      ({ id }) => id,
    ),
    count: () => countMessages(db, of),
    print: async (messages) => messages.map(print),
    readAtOnce: MESSAGES_READ_AT_ONCE,
  });
}
