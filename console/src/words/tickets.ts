// The texts of tickets, which are loaded with their pages.

import * as english from './en/tickets.ts';
import { persian } from './persian.ts';

export const tickets: typeof english.tickets = persian?.tickets ?? english.tickets;
