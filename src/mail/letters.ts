// The letters that are mailed, by kind. They are plain text. A link is a secret until it is used.

import type { Letter } from './mailer.ts';

/** Facts about an invite for its letter. */
interface InviteFacts {
  readonly domain: string;
  readonly role: string;
  /** Email of the inviter. */
  readonly invitedBy: string;
  /** Last day on which the link works. */
  readonly until: string;
}

const NOT_YOU = 'If you did not ask for this, ignore this mail: nothing changes.';

/** Subject and text of each kind. Some kinds have no link. */
const LETTERS = {
  reset: {
    subject: 'Set a new password',
    text: (link: string) =>
      `Someone, probably you, requested a new password for this address.\n\nOpen this link within 30 minutes; it works once:\n\n${link}\n\n${NOT_YOU}\n`,
  },
  register: {
    subject: 'Create your Zonefleet account',
    text: (link: string) =>
      `Someone, probably you, requested an account with this address.\n\nOpen this link within a day to choose a password; it works once:\n\n${link}\n\n${NOT_YOU}\n`,
  },
  'has-account': {
    subject: 'You already have an account',
    text: () =>
      'Someone, probably you, requested an account with this address. It already has one: sign in, or request a new password.\n\nIf it was not you, ignore this mail: nothing changes.\n',
  },
  email: {
    subject: 'Confirm your new address',
    text: (link: string) =>
      `An account requested to use this address from now on.\n\nOpen this link within a day, in the browser in which you are signed in; it works once:\n\n${link}\n\n${NOT_YOU}\n`,
  },
  'email-changed': {
    subject: 'Your address was changed',
    text: () =>
      'Your account now uses another email address, and this one no longer signs in.\n\nIf it was not you, inform the operator of the service immediately.\n',
  },
} as const;

export type LetterKind = keyof typeof LETTERS;

export function writeInvite(to: string, link: string, facts: InviteFacts): Letter {
  const { domain, role, invitedBy, until } = facts;
  return {
    to,
    subject: 'You are invited to a domain',
    text: `${invitedBy} invites you to the domain ${domain} as ${role}.\n\nOpen this link by ${until} (UTC) and accept the invite with an account for this address, or create one there; it works once:\n\n${link}\n\nIf you do not know who this is, ignore this mail: nothing changes.\n`,
  };
}

export function writeLetter(kind: LetterKind, to: string, link = ''): Letter {
  const { subject, text } = LETTERS[kind];
  return { to, subject, text: text(link) };
}
