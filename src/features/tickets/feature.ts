// Tickets: questions of accounts to the operator (docs/api.md "Tickets").

import { grants } from '../../store/roles/role-privileges.ts';
import type { Feature } from '../feature.ts';
import { writeTicketLetter } from './rules.ts';

export const tickets: Feature = {
  name: 'tickets',
  schema: ['tables.sql'],
  privileges: {
    tables: {
      tickets: grants('', 'siu', 'sd'),
      ticket_messages: grants('', 'si', ''), // deleted with their ticket
    },
  },
  retention: { tickets: `status = 'closed' and updated_at < now() - interval '400 days'` },
  letters: {
    ticket: ({ email, message }, publicUrl) =>
      message === null ? undefined : writeTicketLetter(email, message, publicUrl),
  },
  tags: { Tickets: 'Questions to the operator.' },
  adminTags: { Tickets: 'Questions of accounts.' },
  routes: async () => [
    ...(await import('./routes.ts')).TICKET_ROUTES,
    ...(await import('./routes-admin.ts')).ADMIN_TICKET_ROUTES,
  ],
  commands: {
    listed: { ticket: 'list, show, answer and close tickets' },
    load: async () => (await import('./cli.ts')).addTicketCommands,
  },
};
