// Writes the mail about traffic that comes near the limit of a plan.

import type { Letter } from '../../mail/mailer.ts';

interface TrafficNews {
  /** Without the final dot. */
  readonly domain: string;
  /** How much traffic was used, of how much, and in which period. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeTrafficLetter(to: string, { domain, message, publicUrl }: TrafficNews): Letter {
  return {
    to,
    subject: `${domain}: traffic included in its plan`,
    text: `This is about ${domain}, which belongs to your account.\n\n${message}\n\nNothing is blocked: edges serve the domain as before, even beyond the included traffic. We notify you once at 80 % and once at 100 %.\n\nView the domain: ${publicUrl}\n`,
  };
}
