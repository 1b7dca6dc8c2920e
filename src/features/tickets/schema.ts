// Schemas of tickets and their messages.

import { z } from 'zod';
import { Id, nameText, Timestamp } from '../../api/schemas/fields.ts';
import { MESSAGE_CHARACTERS, SUBJECT_CHARACTERS, TICKET_STATUSES } from './rules.ts';

/** Line breaks and tabs are allowed. Characters that move the cursor or change the direction of text are not. */
const UNSHOWN = /[^\P{Cc}\n\r\t]|[\u202a-\u202e\u2066-\u2069]/u;

const message = z
  .string()
  .max(MESSAGE_CHARACTERS)
  .refine((text) => text.trim() !== '', 'must not be empty')
  .refine((text) => !UNSHOWN.test(text), 'must not contain control characters');

export const NewTicket = z
  .strictObject({ subject: nameText(SUBJECT_CHARACTERS), message })
  .meta({ id: 'NewTicket' });
export const NewTicketMessage = z.strictObject({ message }).meta({ id: 'NewTicketMessage' });
export const TicketChange = z
  .strictObject({ status: z.enum(['open', 'closed']) })
  .meta({ id: 'TicketChange' });

export const TicketStatus = z
  .enum(TICKET_STATUSES)
  .describe('An `open` ticket waits for the operator, an `answered` one for you.');

const ticket = {
  id: Id,
  subject: z.string(),
  status: TicketStatus,
  message_count: z.int().min(1),
  created_at: Timestamp,
  updated_at: Timestamp,
};

const written = {
  id: Id,
  author: z.enum(['account', 'staff']),
  message: z.string(),
  created_at: Timestamp,
};

export const Ticket = z.object(ticket).meta({ id: 'Ticket' });
export const AdminTicket = z
  .object({
    ...ticket,
    user_id: Id,
    email: z.string(),
    priority: z
      .boolean()
      .describe('True if a plan of the account included dedicated support when the ticket was opened.'),
  })
  .meta({ id: 'AdminTicket' });
export const TicketMessage = z.object(written).meta({ id: 'TicketMessage' });
export const AdminTicketMessage = z
  .object({ ...written, user_id: Id.optional().describe('Absent if it was written on the command line.') })
  .meta({ id: 'AdminTicketMessage' });
