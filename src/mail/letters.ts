// The letters that are mailed, by their kind. Plain text; the link is a secret until it is used.

import type { Letter } from './mailer.ts';

/** What a letter says of an invite. */
interface InviteFacts {
  readonly domain: string;
  readonly role: string;
  /** The email of whoever invites. */
  readonly invitedBy: string;
  /** The day until which the link works. */
  readonly until: string;
}

const NOT_YOU = 'If you did not ask for this, ignore this mail: nothing changes.';

/** What a kind of letter is made of. A kind without a link has no need of one. */
const LETTERS = {
  reset: {
    subject: 'Set a new password',
    text: (link: string) =>
      `Somebody, probably you, asks to set a new password for this address.\n\nOpen this link within 30 minutes; it works once:\n\n${link}\n\n${NOT_YOU}\n`,
  },
  register: {
    subject: 'Begin with Zonefleet',
    text: (link: string) =>
      `Somebody, probably you, asks for an account with this address.\n\nOpen this link within a day to choose a password; it works once:\n\n${link}\n\n${NOT_YOU}\n`,
  },
  'has-account': {
    subject: 'You have an account already',
    text: () =>
      'Somebody, probably you, asks for an account with this address. It has one already: sign in, or ask for a new password.\n\nIf it was not you, ignore this mail: nothing changes.\n',
  },
  email: {
    subject: 'Confirm your new address',
    text: (link: string) =>
      `An account asks to use this address from now on.\n\nOpen this link within a day, in the browser in which you are signed in; it works once:\n\n${link}\n\n${NOT_YOU}\n`,
  },
  'email-changed': {
    subject: 'Your address was changed',
    text: () =>
      'Your account now uses another email address, and this one no longer signs in.\n\nIf it was not you, tell the operator of the service at once.\n',
  },
} as const;

export type LetterKind = keyof typeof LETTERS;

export function writeInvite(to: string, link: string, facts: InviteFacts): Letter {
  const { domain, role, invitedBy, until } = facts;
  return {
    to,
    subject: 'You are invited to a domain',
    text: `${invitedBy} invites you to the domain ${domain}, as ${role}.\n\nOpen this link until ${until} (UTC) and accept with an account of this address, or make one there; it works once:\n\n${link}\n\nIf you do not know who this is, ignore this mail: nothing changes.\n`,
  };
}

export function writeLetter(kind: LetterKind, to: string, link = ''): Letter {
  const { subject, text } = LETTERS[kind];
  return { to, subject, text: text(link) };
}
