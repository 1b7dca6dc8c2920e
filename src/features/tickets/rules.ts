// Tickets: questions of an account to the operator. Decides how many an account may have, and who has to answer.

import type { Letter } from '../../mail/mailer.ts';

export const MOST_OPEN_TICKETS = 20;
/** Maximum per account in 24 hours, including closed ones. */
export const MOST_NEW_TICKETS = 20;
export const MOST_MESSAGES = 200;
/** Maximum per account in 24 hours, in all its tickets. This is at most 8 MB, which is kept for more than a year. */
export const MOST_NEW_MESSAGES = 200;
export const SUBJECT_CHARACTERS = 200;
export const MESSAGE_CHARACTERS = 10_000;

/** An `open` ticket waits for the operator, an `answered` one for the account. */
export const TICKET_STATUSES = ['open', 'answered', 'closed'] as const;
export type TicketStatus = (typeof TICKET_STATUSES)[number];

type Judged =
  | { readonly kind: 'written'; readonly status: TicketStatus }
  | { readonly kind: 'refused'; readonly message: string };

/** A new message makes the ticket wait for the other side. */
export function judgeMessage(
  ticket: { readonly status: TicketStatus; readonly messages: number },
  by: 'account' | 'staff',
): Judged {
  if (ticket.status === 'closed')
    return { kind: 'refused', message: 'the ticket is closed: reopen it first' };
  if (ticket.messages >= MOST_MESSAGES)
    return {
      kind: 'refused',
      message: `a ticket has at most ${MOST_MESSAGES} messages: open another ticket`,
    };
  return { kind: 'written', status: by === 'staff' ? 'answered' : 'open' };
}

/** Does not contain the answer, since mail passes through other servers. */
export function writeTicketLetter(to: string, ticket: string, publicUrl: string): Letter {
  return {
    to,
    subject: `Your ticket ${ticket} was answered`,
    text: `Your ticket ${ticket} has a new answer.\n\nSign in to read it: ${publicUrl}\n\nYou receive at most one such mail per hour for each ticket.\n`,
  };
}
