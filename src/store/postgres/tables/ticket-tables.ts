// The tables of tickets, as Kysely sees them.

import type { Generated, GeneratedAlways } from 'kysely';
import type { TicketStatus } from '../../../billing/ticket.ts';

interface TicketsTable {
  id: GeneratedAlways<number>;
  account_id: number;
  subject: string;
  status: TicketStatus;
  priority: boolean;
  created_at: Generated<Date>;
  updated_at: Generated<Date>;
  mailed_at: Date | null;
  messages: Generated<number>;
}

interface TicketMessagesTable {
  id: GeneratedAlways<number>;
  ticket_id: number;
  is_staff: boolean;
  account_id: number | null;
  message: string;
  created_at: Generated<Date>;
}

export interface TicketTables {
  tickets: TicketsTable;
  ticket_messages: TicketMessagesTable;
}
