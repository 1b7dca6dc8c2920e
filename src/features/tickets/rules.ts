// Tickets: questions of an account to the operator. Decides how many an account may have, and who has to answer.

import type { Letter } from '../../mail/mailer.ts';

export const MOST_OPEN_TICKETS = 20;
/** Of an account in 24 hours, closed ones too. */
export const MOST_NEW_TICKETS = 20;
export const MOST_MESSAGES = 200;
/** Of an account in 24 hours, in all its tickets: 8 MB at most, which are kept for more than a year. */
export const MOST_NEW_MESSAGES = 200;
export const SUBJECT_CHARACTERS = 200;
export const MESSAGE_CHARACTERS = 10_000;

/** `open`: it waits for the operator; `answered`: for the account. */
export const TICKET_STATUSES = ['open', 'answered', 'closed'] as const;
export type TicketStatus = (typeof TICKET_STATUSES)[number];

type Judged =
  | { readonly kind: 'written'; readonly status: TicketStatus }
  | { readonly kind: 'refused'; readonly message: string };

/** Whoever writes gives the turn to the other side. */
export function judgeMessage(
  ticket: { readonly status: TicketStatus; readonly messages: number },
  by: 'account' | 'staff',
): Judged {
  if (ticket.status === 'closed') return { kind: 'refused', message: 'the ticket is closed: open it again' };
  if (ticket.messages >= MOST_MESSAGES)
    return { kind: 'refused', message: `a ticket has at most ${MOST_MESSAGES} messages: open another` };
  return { kind: 'written', status: by === 'staff' ? 'answered' : 'open' };
}

/** Does not contain the answer, since mail passes through other servers. */
export function writeTicketLetter(to: string, ticket: string, publicUrl: string): Letter {
  return {
    to,
    subject: `Your ticket ${ticket} is answered`,
    text: `There is an answer to your ticket ${ticket}.\n\nSign in to read it: ${publicUrl}\n\nFor one ticket there is at most one such mail an hour.\n`,
  };
}
