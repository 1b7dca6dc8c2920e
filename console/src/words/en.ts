// Every word of the console in English. Sentences that hold a value are functions of it.

const plural = (amount: number, one: string, many: string) =>
  `${amount.toLocaleString('en-GB')} ${amount === 1 ? one : many}`;

export const en = {
  locale: 'en-GB',

  common: {
    cancel: 'Cancel',
    close: 'Close',
    delete: 'Delete',
    goOn: 'Go on',
    loading: 'Loading…',
    more: 'Show more',
    reload: 'Load the page again',
    save: 'Save',
    tryAgain: 'Try again',
    typeToConfirm: (name: string) => `Type ${name} to confirm`,
  },

  copy: {
    copy: 'Copy',
    copied: 'Copied',
    failed: 'The browser does not allow copying here. Select the text instead.',
    table: 'Copy the table',
    tableCopied: (rows: number) => `${plural(rows, 'row', 'rows')} copied.`,
  },

  failures: {
    status: (status: number) => `The server answered with status ${status}.`,
    noAnswer: 'No answer came from the server.',
    checkConnection: 'Check your connection. What you typed is kept.',
    nothingLost: 'What you typed is kept. Try again in a moment.',
    notFound: 'It may have been removed, or is not shared with you.',
    wait: (seconds: number) => `Wait ${plural(seconds, 'second', 'seconds')}.`,
    requestId: (id: string) => `For support: request ${id}`,
    screenNotLoaded: 'This part of the page could not be loaded, or failed. What you typed is kept.',
  },

  notFound: {
    title: 'There is no such page',
    text: 'The address may be mistyped, or what it showed is gone.',
    back: 'To your domains',
  },

  time: { now: 'just now' },

  frame: {
    skip: 'Skip to content',
    navigation: 'Main',
    light: 'Use light colours',
    dark: 'Use dark colours',
    signOut: 'Sign out',
    signOutFailed: 'You are still signed in: the server could not be reached. Try again.',
    domains: 'Domains',
    account: 'Account',
    wallet: 'Wallet',
    tickets: 'Tickets',
    operator: 'Operator',
  },

  password: {
    again: 'Your password, once more',
    why: 'This change matters, and you signed in more than 15 minutes ago.',
    password: 'Password',
  },

  signIn: {
    title: 'Sign in',
    email: 'Email',
    password: 'Password',
    code: 'Code of your authenticator app',
    codeHint: 'Or one of your recovery codes.',
    signIn: 'Sign in',
    forgot: 'I forgot my password',
    forgotTitle: 'Set a new password',
    forgotText: 'A link comes by mail if the address has an account.',
    forgotSend: 'Send the link',
    forgotSent: 'If the address has an account, a link is on its way. It works once, for 30 minutes.',
    back: 'Back to sign in',
    register: 'Make an account',
    registerText: 'The account begins when you open the link that comes by mail.',
    registerSent: 'A link is on its way. Open it to begin.',
    name: 'Name',
    byLink: 'You opened a link that signs you in once.',
    linkUse: 'Sign in with this link',
    linkSpent: 'The link was used, or is too old. Sign in with your password, or ask for another link.',
    newPassword: 'New password',
    newPasswordHint: 'At least 10 characters. A few words in a row are better than one with signs.',
    setPassword: 'Set the password',
    passwordSet: 'Your password is set. Sign in with it.',
    choosePassword: 'Choose a password',
    choosePasswordText: 'You are signed in by a link. Set a password to sign in the next time.',
    later: 'Later',
    emailConfirm: 'Confirm your new address',
    emailConfirmed: 'Your new address counts from now on.',
  },

  statuses: {
    active: 'active',
    pending: 'pending',
    unverified: 'not verified',
    moved: 'moved away',
    disabled: 'disabled',
    banned: 'banned',
  },

  domain: {
    pages: {
      delegation: 'Delegation',
      records: 'Records',
      history: 'History',
      dnssec: 'DNSSEC',
      traffic: 'Traffic',
      rules: 'Rules',
      certificates: 'Certificates',
      cache: 'Cache',
      uptime: 'Uptime',
      sharing: 'Sharing',
      settings: 'Settings',
      plan: 'Plan',
    },
    navigation: 'Pages of the domain',
  },

  operator: {
    pages: {
      fleet: 'Fleet',
      live: 'Live',
      queues: 'Queues',
      registries: 'Registries',
      domains: 'All domains',
      accounts: 'Accounts',
      tickets: 'Tickets',
      payments: 'Payments',
      audit: 'Audit',
    },
  },
};
