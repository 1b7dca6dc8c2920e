// The letter that warns the holder of a name that another account is about to take it.

import type { Letter } from './mailer.ts';

interface TakeoverWarning {
  /** Without the final dot. */
  readonly domain: string;
  /** The sentence of the finding: what was observed, and what to do against it. */
  readonly message: string;
  readonly publicUrl: string;
}

export function writeTakeoverLetter(to: string, { domain, message, publicUrl }: TakeoverWarning): Letter {
  return {
    to,
    subject: `${domain} is about to pass to another account`,
    text: `This is about ${domain}, which your account owns or manages here.\n\n${message}\n\nIf you moved the domain to the other account yourself, there is nothing to do.\n\nView the domain: ${publicUrl}\n`,
  };
}
