// The letter that reminds an owner of a DNSSEC step at the registrar.

import type { Letter } from './mailer.ts';

interface DnssecReminder {
  /** Without the final dot. */
  readonly domain: string;
  /** The sentences of the findings, which say what to do. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeDnssecLetter(to: string, { domain, message, publicUrl }: DnssecReminder): Letter {
  return {
    to,
    subject: `${domain}: DNSSEC requires a step at your registrar`,
    text: `This is about DNSSEC of ${domain}, which your account owns or manages here.\n\n${message}\n\nIf you did this recently, there is nothing to do: registries take up to a day. We remind you once in 30 days.\n\nView the domain: ${publicUrl}\n`,
  };
}
