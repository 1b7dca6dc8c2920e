// The letter that reminds an owner of what is to be entered at the registrar for DNSSEC.

import type { Letter } from './mailer.ts';

interface DnssecReminder {
  /** Without the final dot. */
  readonly domain: string;
  /** What to do: the sentences of the findings. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeDnssecLetter(to: string, { domain, message, publicUrl }: DnssecReminder): Letter {
  return {
    to,
    subject: `${domain}: DNSSEC waits for your registrar`,
    text: `This is about DNSSEC of ${domain}, which your account has or manages here.\n\n${message}\n\nIf you did that lately, there is nothing to do: registries take up to a day. We remind you once in 30 days.\n\nSee the domain: ${publicUrl}\n`,
  };
}
