// Writes the mail about traffic that comes near what a plan includes.

import type { Letter } from '../../mail/mailer.ts';

interface TrafficNews {
  /** Without the final dot. */
  readonly domain: string;
  /** How much, of how much, since when. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeTrafficLetter(to: string, { domain, message, publicUrl }: TrafficNews): Letter {
  return {
    to,
    subject: `${domain}: the traffic of its plan`,
    text: `This is about ${domain}, which is your account's.\n\n${message}\n\nNothing is cut off: beyond what the plan includes, edges serve the domain as before. We tell you once at 80 % and once at 100 %.\n\nSee the domain: ${publicUrl}\n`,
  };
}
