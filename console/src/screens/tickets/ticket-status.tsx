// The status of a ticket.

import { Badge } from '../../parts/status.tsx';
import { tickets } from '../../words/tickets.ts';

const TONES = { open: 'warn', answered: 'good', closed: '' } as const;

export function TicketStatus({ status }: { readonly status: keyof typeof TONES }) {
  return <Badge tone={TONES[status]}>{tickets.statuses[status]}</Badge>;
}
