// Tickets: the list, a new ticket, and one ticket with its messages.

import { Route, Router } from 'preact-iso';
import { NotFound } from '../../app/not-found.tsx';
import { person } from '../../app/session.ts';
import { Note } from '../../parts/failure.tsx';
import { tickets } from '../../words/tickets.ts';
import { NewTicket } from './new-ticket.tsx';
import { OneTicket } from './one-ticket.tsx';
import { TicketList } from './ticket-list.tsx';
import './tickets.css';

export default function TicketsScreen() {
  if (person().provider !== undefined) return <Note>{tickets.managed}</Note>;
  return (
    <Router>
      <Route path="/" component={TicketList} />
      <Route path="/new" component={NewTicket} />
      <Route path="/:id" component={OneTicket} />
      <Route default component={NotFound} />
    </Router>
  );
}
