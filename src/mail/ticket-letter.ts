// The letter that tells an owner that a ticket is answered. What is answered stays with us: a letter goes through many hands.

import type { Letter } from './mailer.ts';

export function writeTicketLetter(to: string, ticket: string, publicUrl: string): Letter {
  return {
    to,
    subject: `Your ticket ${ticket} is answered`,
    text: `There is an answer to your ticket ${ticket}.\n\nSign in to read it: ${publicUrl}\n\nFor one ticket there is at most one such mail an hour.\n`,
  };
}
