// The letter that tells an owner that the origins of a domain are down, or answer again.

import type { Letter } from './mailer.ts';

interface OutageNews {
  /** Without the final dot. */
  readonly domain: string;
  readonly isOver: boolean;
  /** What is seen. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeOutageLetter(to: string, { domain, isOver, message, publicUrl }: OutageNews): Letter {
  const subject = isOver ? 'origins answer again' : 'origins are down';
  return {
    to,
    subject: `${domain}: ${subject}`,
    text: `This is about ${domain}, which is your account's.\n\n${message}\n\nYou get this since outage_alerts is on for the domain; its settings say what counts as an outage.\n\nSee the domain: ${publicUrl}\n`,
  };
}
