// English texts of the reseller's pages.

import { plural } from './figures.ts';

export const reseller = {
  pages: { clients: 'Clients', tokens: 'Machine tokens' },
  unlock: {
    why: 'These pages give access to the accounts and the money of your clients. They close when you leave or reload the console.',
    noPassword: 'These pages require a password, and your account has none yet.',
    ended: 'Confirm your password first.',
  },
  clients: {
    ownWallet: 'Your wallet',
    search: 'Search',
    searchHint: 'Email or name',
    state: 'State',
    allStates: 'all',
    states: { active: 'active', inactive: 'inactive' },
    noPassword: 'no password yet',
    make: 'Create a client',
    emailHint: 'It must not belong to another account. We email a link with which its owner sets a password.',
    none: 'No clients yet',
    noneText: 'A client is an account that you manage: you pay for its domains and can operate them.',
    noMatch: 'No client matches',
    clear: 'Clear the filters',
  },
  client: {
    account: 'Account',
    confirmed: 'Email confirmed',
    hasPassword: 'Password set',
    activate: 'Reactivate the account',
    deactivate: 'Deactivate the account',
    deactivateTitle: (email: string) => `Deactivate ${email}?`,
    deactivateText:
      'The client can no longer sign in, and its API keys stop working. Its domains are still served, and you operate them as before.',
  },
  transfer: {
    direction: 'Transfer',
    directions: { credit: 'from your wallet to the client', debit: 'from the client to your wallet' },
    own: 'Between your wallet and the wallet of the client.',
    ownBalance: (balance: string) => `Your wallet has ${balance}.`,
    wrongAmount: 'Enter a whole amount above 0.',
    description: 'Description',
    descriptionHint: 'Optional. Both accounts see it in their transactions.',
    byDefault: 'Transfer',
    button: 'Transfer',
    done: {
      credit: (amount: string) => `${amount} were transferred to the client.`,
      debit: (amount: string) => `${amount} were transferred to your wallet.`,
    },
    notNeeded:
      'A transfer is not needed before a purchase: your wallet pays what the wallet of the client lacks.',
  },
  services: {
    add: 'Add a domain',
    added: (domain: string) =>
      `${domain} was added. Open it to see which nameservers to set at its registrar.`,
    none: 'No domains yet',
    noneText: 'Add a domain together with a plan.',
    domain: 'Domain',
    domainHint:
      'If it already uses these nameservers, ask the operator to approve it first. Otherwise it becomes unavailable until its delegation is checked.',
    plan: 'Plan',
    payHint: 'The wallet of the client pays, and yours pays the rest.',
    changeHint: 'Unused paid time is credited to the wallets that paid for it, and the new term starts now.',
    noTerms: 'The operator sells no plans at present.',
    term: (plan: string, price: string, days: number) =>
      price === ''
        ? `${plan}, ${plural(days, 'day', 'days')}`
        : `${plan}, ${plural(days, 'day', 'days')}: ${price}`,
    served: { apex: 'not delegated yet', none: 'not served' },
    unpaid: 'Unpaid. The plan ends',
    renewal: { on: 'renews automatically', off: 'is not renewed' },
    of: (action: string, domain: string) => `${action}: ${domain}`,
    change: 'Change the plan',
    changeTitle: (domain: string) => `Change the plan of ${domain}`,
    changed: (domain: string) => `The plan of ${domain} was changed.`,
    cancel: 'Cancel the plan',
    cancelTitle: (domain: string) => `Cancel the plan of ${domain}?`,
    cancelText: 'The plan ends immediately, and nothing is refunded. The domain stays, with the free plan.',
    cancelled: (domain: string) => `The plan of ${domain} was cancelled.`,
  },
  tokens: {
    what: 'Your programs use machine tokens for the reseller API. A token can do everything on these pages, except manage tokens.',
    make: 'Create a token',
    made: (name: string) => `The token for ${name} was created.`,
    token: 'the token',
    none: 'No tokens yet',
    forHint: 'Example: billing',
    states: { active: 'active', expired: 'expired', revoked: 'revoked' },
    of: (action: string, name: string) => `${action}: ${name}`,
    revokeTitle: (name: string) => `Revoke the token for ${name}?`,
    revokeText: 'Requests with this token are rejected immediately. You cannot undo this.',
    revoked: (name: string) => `The token for ${name} was revoked.`,
  },
};
