// A ticket and what was written in it, as its account sees them, and as those who answer do.

import type { z } from 'zod';
import type {
  TicketMessage as StoredMessage,
  Ticket as StoredTicket,
} from '../../store/tickets/load-tickets.ts';
import type { AdminTicket, AdminTicketMessage, Ticket, TicketMessage } from '../schemas/money/ticket.ts';

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

/** Who of the staff answered is not told. */
export function printMessage(written: StoredMessage): z.input<typeof TicketMessage> {
  const { id, isStaff, message, createdAt } = written;
  return { id, author: isStaff ? 'staff' : 'account', message, created_at: createdAt.toISOString() };
}

export function printAdminMessage(written: StoredMessage): z.input<typeof AdminTicketMessage> {
  const { accountId } = written;
  return { ...printMessage(written), ...(accountId !== null && { user_id: accountId }) };
}
