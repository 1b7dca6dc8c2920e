// Routes of an account's own tickets (docs/api.md "Tickets").

import { z } from 'zod';
import { notFound, Problem } from '../../api/answers/problem.ts';
import { account, route } from '../../api/calls/route.ts';
import { idText } from '../../api/schemas/fields.ts';
import {
  answerMessages,
  answerTickets,
  MESSAGES_QUERY,
  printMessage,
  printTicket,
  ticketsQuery,
} from './print.ts';
import { MOST_MESSAGES, MOST_NEW_MESSAGES, MOST_OPEN_TICKETS } from './rules.ts';
import { NewTicket, NewTicketMessage, Ticket, TicketChange, TicketMessage } from './schema.ts';
import { loadTicket, type Ticket as StoredTicket } from './sql-read.ts';
import { openTicket, setTicketStatus, writeMessage } from './sql-write.ts';

const tag = 'Tickets';
const BODY_BYTES = 64 * 1024;
const one = { params: z.object({ id: idText }), finds: 'ticket' } as const;

const list = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/tickets',
  operationId: 'listTickets',
  tag,
  summary: 'Your tickets, newest first.',
  query: ticketsQuery('newest'),
  response: z.array(Ticket),
  answerHeaders: ['Link', 'X-Total-Count'],
  run: (call) =>
    answerTickets(call.api.db, call, {
      first: 'newest',
      filter: { accountId: call.caller.account.id },
      print: printTicket,
    }),
});

const open = route(account(), {
  method: 'POST',
  path: '/tickets',
  operationId: 'openTicket',
  tag,
  summary: 'Opens a ticket: a question to the operator.',
  description: `An account may have ${MOST_OPEN_TICKETS} open tickets, and open the same number in 24 hours.`,
  audit: 'ticket.open',
  bodyBytes: BODY_BYTES,
  body: NewTicket,
  response: Ticket,
  conflicts: true,
  async run({ api, caller, body, audit }) {
    const opened = await openTicket(api.db, { accountId: caller.account.id, ...body });
    if (opened.kind === 'refused') return new Problem(409, opened.message);
    const { ticket } = opened;
    audit({ accountId: ticket.accountId, target: nameOf(ticket), after: { status: ticket.status } });
    return printTicket(ticket);
  },
});

const get = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/tickets/{id}',
  operationId: 'getTicket',
  tag,
  summary: 'One of your tickets.',
  ...one,
  response: Ticket,
  async run({ api, caller, params }) {
    const ticket = await loadTicket(api.db, params.id, { accountId: caller.account.id });
    return ticket === undefined ? notFound('ticket') : printTicket(ticket);
  },
});

const read = route(account({ wholeKeys: true }), {
  method: 'GET',
  path: '/tickets/{id}/messages',
  operationId: 'listTicketMessages',
  tag,
  summary: 'Messages of one of your tickets, oldest first.',
  ...one,
  query: MESSAGES_QUERY,
  response: z.array(TicketMessage),
  answerHeaders: ['Link', 'X-Total-Count'],
  async run(call) {
    const { api, caller, params } = call;
    const ticket = await loadTicket(api.db, params.id, { accountId: caller.account.id });
    return ticket === undefined
      ? notFound('ticket')
      : await answerMessages(api.db, call, ticket.id, printMessage);
  },
});

const write = route(account(), {
  method: 'POST',
  path: '/tickets/{id}/messages',
  operationId: 'writeToTicket',
  tag,
  summary: 'Adds a message to a ticket, which then waits for the operator.',
  description: `A ticket has at most ${MOST_MESSAGES} messages, and an account may write ${MOST_NEW_MESSAGES} in 24 hours. Returns the new message.`,
  ...one,
  audit: 'ticket.write',
  bodyBytes: BODY_BYTES,
  body: NewTicketMessage,
  response: TicketMessage,
  conflicts: true,
  async run({ api, caller, params, body, audit }) {
    const by = { kind: 'account', accountId: caller.account.id } as const;
    const written = await writeMessage(api.db, { ticketId: params.id, message: body.message, by });
    if (written.kind === 'absent') return notFound('ticket');
    if (written.kind === 'refused') {
      const { message, waitSeconds } = written;
      if (waitSeconds === undefined) return new Problem(409, message);
      return new Problem(429, message, { headers: { 'Retry-After': String(waitSeconds) } });
    }
    const { before, ticket, message } = written;
    audit({ ...sidesOf(before, ticket), accountId: ticket.accountId, target: nameOf(ticket) });
    return printMessage(message);
  },
});

const change = route(account(), {
  method: 'PATCH',
  path: '/tickets/{id}',
  operationId: 'changeTicket',
  tag,
  summary: 'Closes or reopens a ticket.',
  ...one,
  audit: 'ticket.status',
  body: TicketChange,
  response: Ticket,
  conflicts: true,
  async run({ api, caller, params, body, audit }) {
    const order = { ticketId: params.id, accountId: caller.account.id, status: body.status };
    const changed = await setTicketStatus(api.db, order);
    if (changed.kind === 'absent') return notFound('ticket');
    if (changed.kind === 'refused') return new Problem(409, changed.message);
    const { before, ticket } = changed;
    const note = { ...sidesOf(before, ticket), accountId: ticket.accountId, target: nameOf(ticket) };
    audit(before.status === ticket.status ? undefined : note);
    return printTicket(ticket);
  },
});

export function nameOf({ id, subject }: StoredTicket) {
  return { id, name: subject };
}

export function sidesOf(before: StoredTicket, after: StoredTicket) {
  return { before: { status: before.status }, after: { status: after.status } };
}

export const TICKET_ROUTES = [list, open, get, read, write, change];
