// Routes for operators to read and answer tickets.

import { z } from 'zod';
import { notFound, Problem } from '../../api/answers/problem.ts';
import type { CallOf } from '../../api/calls/call.ts';
import { admin, route } from '../../api/calls/route.ts';
import { booleanText, idText, integerText } from '../../api/schemas/fields.ts';
import {
  answerMessages,
  answerTickets,
  MESSAGES_QUERY,
  printAdminMessage,
  printAdminTicket,
  ticketsQuery,
} from './print.ts';
import { nameOf, sidesOf } from './routes.ts';
import { AdminTicket, AdminTicketMessage, NewTicketMessage, TicketChange } from './schema.ts';
import { loadTicket } from './sql-read.ts';
import { setTicketStatus, writeMessage } from './sql-write.ts';

const tag = 'Tickets';
const BODY_BYTES = 64 * 1024;

const one = {
  params: z.object({ id: idText }),
  find: ({ api, params }: CallOf<'admin', { id: number }>) => loadTicket(api.db, params.id),
  finds: 'ticket',
};

const list = route(admin, {
  method: 'GET',
  path: '/admin/tickets',
  operationId: 'adminListTickets',
  tag,
  summary: 'Tickets of all accounts, oldest first.',
  query: ticketsQuery('oldest').extend({
    priority: booleanText.optional().describe('`true`: only those with dedicated support.'),
    user: integerText(1, Number.MAX_SAFE_INTEGER).optional().describe('Only tickets of this account.'),
  }),
  response: z.array(AdminTicket),
  answerHeaders: ['Link', 'X-Total-Count'],
  run(call) {
    const { priority, user: accountId } = call.query;
    const filter = { priority, accountId };
    return answerTickets(call.api.db, call, { first: 'oldest', filter, print: printAdminTicket });
  },
});

const get = route(admin, {
  method: 'GET',
  path: '/admin/tickets/{id}',
  operationId: 'adminGetTicket',
  tag,
  summary: 'One ticket.',
  ...one,
  response: AdminTicket,
  run: ({ found }) => printAdminTicket(found),
});

const read = route(admin, {
  method: 'GET',
  path: '/admin/tickets/{id}/messages',
  operationId: 'adminListTicketMessages',
  tag,
  summary: 'Messages of a ticket, oldest first.',
  ...one,
  query: MESSAGES_QUERY,
  response: z.array(AdminTicketMessage),
  answerHeaders: ['Link', 'X-Total-Count'],
  run: (call) => answerMessages(call.api.db, call, call.found.id, printAdminMessage),
});

const answer = route(admin, {
  method: 'POST',
  path: '/admin/tickets/{id}/messages',
  operationId: 'adminAnswerTicket',
  tag,
  summary: 'Answers a ticket, which then waits for its account.',
  description: 'The account is notified by mail, at most once per hour for each ticket.',
  ...one,
  audit: 'ticket.answer',
  bodyBytes: BODY_BYTES,
  body: NewTicketMessage,
  response: AdminTicketMessage,
  conflicts: true,
  async run({ api, caller, people, found, body, audit }) {
    const by = { kind: 'staff', accountId: caller.account.id, tells: people.sendsMail } as const;
    const written = await writeMessage(api.db, { ticketId: found.id, message: body.message, by });
    if (written.kind === 'absent') return notFound('ticket');
    if (written.kind === 'refused') return new Problem(409, written.message);
    const { before, ticket, message } = written;
    audit({ ...sidesOf(before, ticket), accountId: ticket.accountId, target: nameOf(ticket) });
    return printAdminMessage(message);
  },
});

const change = route(admin, {
  method: 'PATCH',
  path: '/admin/tickets/{id}',
  operationId: 'adminChangeTicket',
  tag,
  summary: 'Closes or reopens a ticket.',
  ...one,
  audit: 'ticket.status',
  body: TicketChange,
  response: AdminTicket,
  conflicts: true,
  async run({ api, found, body, audit }) {
    const changed = await setTicketStatus(api.db, { ticketId: found.id, status: body.status });
    if (changed.kind === 'absent') return notFound('ticket');
    if (changed.kind === 'refused') return new Problem(409, changed.message);
    const { before, ticket } = changed;
    const note = { ...sidesOf(before, ticket), accountId: ticket.accountId, target: nameOf(ticket) };
    audit(before.status === ticket.status ? undefined : note);
    return printAdminTicket(ticket);
  },
});

export const ADMIN_TICKET_ROUTES = [list, get, read, answer, change];
