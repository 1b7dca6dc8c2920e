// Schemas of tickets and their messages.

import { z } from 'zod';
import { Id, nameText, Timestamp } from '../../api/schemas/fields.ts';
import { MESSAGE_CHARACTERS, SUBJECT_CHARACTERS, TICKET_STATUSES } from './rules.ts';

/** Lines and tabs stay; nothing moves the cursor of whoever reads it, or turns the direction of what follows. */
const UNSHOWN = /[^\P{Cc}\n\r\t]|[\u202a-\u202e\u2066-\u2069]/u;

const message = z
  .string()
  .max(MESSAGE_CHARACTERS)
  .refine((text) => text.trim() !== '', 'is empty')
  .refine((text) => !UNSHOWN.test(text), 'has a control character');

export const NewTicket = z
  .strictObject({ subject: nameText(SUBJECT_CHARACTERS), message })
  .meta({ id: 'NewTicket' });
export const NewTicketMessage = z.strictObject({ message }).meta({ id: 'NewTicketMessage' });
export const TicketChange = z
  .strictObject({ status: z.enum(['open', 'closed']) })
  .meta({ id: 'TicketChange' });

export const TicketStatus = z
  .enum(TICKET_STATUSES)
  .describe('`open`: it waits for the operator; `answered`: for you.');

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
    priority: z.boolean().describe('A plan of the account had dedicated support when it was opened.'),
  })
  .meta({ id: 'AdminTicket' });
export const TicketMessage = z.object(written).meta({ id: 'TicketMessage' });
export const AdminTicketMessage = z
  .object({ ...written, user_id: Id.optional().describe('Absent: by the command line.') })
  .meta({ id: 'AdminTicketMessage' });
