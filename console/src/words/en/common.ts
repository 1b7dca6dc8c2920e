// English texts of what every screen shares: messages, the frame, the states of a domain.

import { compact, date, grouped, listed, plural, relative } from './figures.ts';

export const common = {
  cancel: 'Cancel',
  close: 'Close',
  delete: 'Delete',
  goOn: 'Continue',
  loading: 'Loading…',
  more: 'Show more',
  reload: 'Reload the page',
  save: 'Save',
  yes: 'yes',
  no: 'no',
  steps: { done: 'done', now: 'now', next: 'next' },
  tryAgain: 'Try again',
  typeToConfirm: (name: string) => `Type ${name} to confirm`,
};

export const copy = {
  copy: 'Copy',
  copied: 'Copied',
  failed: 'The browser does not allow copying here. Select the text and copy it yourself.',
  table: 'Copy the table',
  tableCopied: (rows: number) => `${plural(rows, 'row', 'rows')} copied.`,
};

export const failures = {
  status: (status: number) => `The server responded with status ${status}.`,
  noAnswer: 'The server did not respond.',
  brokenOff: 'The connection was lost before the response was complete.',
  late: (message: string) => `An earlier action failed: ${message}`,
  checkConnection: 'Check your connection. Your input is kept.',
  nothingLost: 'Your input is kept. Try again in a moment.',
  notFound: 'It may have been deleted, or it is not shared with you.',
  wait: (seconds: number) => `Wait ${plural(seconds, 'second', 'seconds')}.`,
  requestId: (id: string) => `Request ID for support: ${id}`,
  screenNotLoaded: 'This part of the page failed to load. Your input is kept.',
};

export const notFound = {
  title: 'Page not found',
  text: 'The address may be mistyped, or the page no longer exists.',
  back: 'Go to your domains',
};

export const time = { now: 'just now', relative, date };

export const figures = { grouped, compact, listed };

export const frame = {
  skip: 'Skip to content',
  language: 'Language',
  navigation: 'Main',
  light: 'Light',
  dark: 'Dark',
  signOut: 'Sign out',
  signOutFailed: 'You are still signed in: the server could not be reached. Try again.',
  domains: 'Domains',
  account: 'Account',
  wallet: 'Wallet',
  tickets: 'Tickets',
  reseller: 'Reseller',
  operator: 'Operator',
  operatorPages: {
    live: 'Live',
    fleet: 'Fleet',
    queues: 'Queues',
    registries: 'Registries',
    calls: 'Slow calls',
    domains: 'All domains',
    accounts: 'Accounts',
    tickets: 'All tickets',
    payments: 'Payments',
    audit: 'Audit',
  },
};

export const password = {
  again: 'Confirm your password',
  why: 'This is a sensitive change, and you have not confirmed within the last 15 minutes that it is you.',
  password: 'Password',
  none: 'Confirm that it is you',
  noneText:
    'You have no password. Request a link to set one, sign in with it, then try again. Your input is kept.',
  identityText: 'Your identity provider can confirm that it is you, in a new window.',
  windowBlocked: 'Your browser blocked the new window. Allow new windows for this page, then try again.',
  identity: 'Confirm with the identity provider',
  sendLink: 'Email me a link',
  linkSent: (email: string) =>
    `We sent a link to ${email}. If it does not arrive, ask the operator, who can create one with: zonefleet account reset.`,
};

export const statuses = {
  active: 'active',
  pending: 'pending',
  unverified: 'not verified',
  moved: 'moved away',
  disabled: 'disabled',
  banned: 'banned',
};
