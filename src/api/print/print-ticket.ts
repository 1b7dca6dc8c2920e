// A ticket as its account sees it, and as those who answer do.

import type { z } from 'zod';
import type { Ticket as StoredTicket, TicketMessage } from '../../store/tickets/load-tickets.ts';
import type { AdminTicket, Ticket, WholeAdminTicket, WholeTicket } from '../schemas/money/ticket.ts';

export function printTicket(ticket: StoredTicket): z.input<typeof Ticket> {
  const { id, subject, status, createdAt, updatedAt } = ticket;
  return {
    id,
    subject,
    status,
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
  };
}

function printMessage({ id, isStaff, message, createdAt }: TicketMessage) {
  const author = isStaff ? ('staff' as const) : ('account' as const);
  return { id, author, message, created_at: createdAt.toISOString() };
}

/** Who of the staff answered is not told. */
export function printWholeTicket(
  ticket: StoredTicket,
  messages: readonly TicketMessage[],
): z.input<typeof WholeTicket> {
  return { ...printTicket(ticket), messages: messages.map(printMessage) };
}

export function printAdminTicket(ticket: StoredTicket): z.input<typeof AdminTicket> {
  const { accountId, email, priority } = ticket;
  return { ...printTicket(ticket), user_id: accountId, email, priority };
}

export function printWholeAdminTicket(
  ticket: StoredTicket,
  messages: readonly TicketMessage[],
): z.input<typeof WholeAdminTicket> {
  return {
    ...printAdminTicket(ticket),
    messages: messages.map((each) => ({
      ...printMessage(each),
      ...(each.accountId !== null && { user_id: each.accountId }),
    })),
  };
}
