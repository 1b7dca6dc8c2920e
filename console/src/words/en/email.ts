// English texts of the email setup.

import { grouped, plural } from './figures.ts';

export const email = {
  title: 'Set up email',
  text: 'Choose where the mailboxes of this domain are hosted. You see the records before they are added, and nothing is published until you save them.',
  stepsLabel: 'Steps of the email setup',
  steps: {
    provider: 'Provider',
    values: 'DKIM',
    spf: 'SPF',
    dmarc: 'DMARC',
    transport: 'Encryption',
    review: 'Review',
  },
  next: 'Next',
  previous: 'Back',
  mailboxes: 'Mailboxes',
  keep: 'Keep the current mail servers',
  current: (name: string) => `Currently ${name}`,
  own: 'Another provider, or your own servers',
  none: 'This domain sends and receives no mail',
  noneHint:
    'Adds records that tell other servers to reject mail from and to this domain, so that nobody can abuse its name.',
  chooseOne: 'Choose a provider.',
  ownServers: 'Mail servers',
  ownServersHint:
    'One name per line, the preferred server first. A number before the name sets the priority.',
  ownServersExample: '10 mx1.example.net\n20 mx2.example.net',
  senders: 'Other services that send mail for you',
  sendersHint: 'For example newsletters, receipts or password resets.',
  problems: {
    needed: 'Enter this value. Without it, the domain would have no mail server.',
    wrong: 'This value does not fit the record. Copy it again from your provider.',
    noAddress: 'Enter an email address, for example dmarc@example.net.',
    noServer: 'Enter an address such as 192.0.2.1, or a name such as web.example.net.',
  },
  valuesTitle: 'Values from your account',
  valuesText:
    'Copy these values from your provider’s website. DKIM signs your mail (RFC 6376), and verification proves that the domain is yours. You can leave fields empty and add these records later.',
  noValues: (name: string) => `${name} needs no values from your account. All its records are known.`,
  noProviders: 'You selected no provider, so there is nothing to enter here.',
  fields: {
    mx: 'Mail server (MX)',
    dkim: 'DKIM key',
    verification: 'Verification text',
    selector: 'DKIM selector',
    target: 'DKIM target',
    target1: 'First DKIM target',
    target2: 'Second DKIM target',
    target3: 'Third DKIM target',
    token1: 'First DKIM token',
    token2: 'Second DKIM token',
    token3: 'Third DKIM token',
    region: 'AWS region',
    returnName: 'Name for bounces',
    returnTarget: 'Target for bounces',
  },
  fieldHints: {
    mx: 'As shown in the admin center. Check it: Microsoft may have assigned another name.',
    selector: 'The part of the record’s name before ._domainkey',
    region: 'For example eu-west-1',
    returnName: 'For example em1234',
  },
  recordHint: (type: string, name: string) => `Value of the ${type} record ${name}`,
  spfTitle: 'Servers that may send mail for this domain',
  spfText:
    'SPF lists the servers that may send (RFC 7208). A domain has one SPF record, so new senders are added to it.',
  spfTerms: 'Senders in the current record',
  spfTermsHint: 'Clear a sender that is no longer used, for example your old provider.',
  spfAll: 'Mail from other servers',
  spfAlls: {
    '~all': 'Treat as suspicious (~all). Recommended together with DMARC.',
    '-all': 'Reject (-all). Forwarded mail may be lost.',
  },
  spfResult: 'Result',
  spfNone: 'No SPF record is needed.',
  spfLookups: (count: number, most: number) =>
    `At least ${grouped(count)} of ${plural(most, 'allowed DNS lookup', 'allowed DNS lookups')}. Included records may need more.`,
  dmarcTitle: 'Policy for forged mail',
  dmarcText:
    'DMARC applies to mail that neither SPF nor DKIM confirms (RFC 7489). Start with reports only, read them for a few weeks, and then choose a stricter policy.',
  dmarcPolicy: 'Policy',
  dmarcPolicies: {
    keep: 'Keep the current policy',
    none: 'Only report (none)',
    quarantine: 'Move to spam (quarantine)',
    reject: 'Reject (reject)',
  },
  dmarcNow: (text: string) => `Now: ${text}`,
  dmarcAddress: 'Address for reports',
  dmarcAddressHint:
    'Receivers send a summary (XML) each day. Use a separate mailbox, or a service that evaluates reports.',
  transportTitle: 'Encrypted delivery',
  transportText:
    'Optional. MTA-STS makes senders use TLS with a valid certificate (RFC 8461). TLS-RPT reports failed deliveries (RFC 8460).',
  mtaSts: 'MTA-STS',
  mtaStsModes: {
    keep: 'Do not change it',
    testing: 'Testing: failures are only reported',
    enforce: 'Enforce: mail is not delivered without TLS',
  },
  mtaStsHost: 'Web server of the policy',
  mtaStsHostHint: (domain: string) =>
    `Address or name of the server for mta-sts.${domain}. Leave it empty if the record already exists.`,
  policyText: (domain: string) =>
    `Serve this file at https://mta-sts.${domain}/.well-known/mta-sts.txt with a valid certificate before you save. Zonefleet’s edge does not serve it: use your own web server, or ask your mail provider.`,
  policyLabel: 'Policy file',
  tlsAddress: 'Address for TLS reports',
  tlsAddressHint: 'Leave it empty to add no record.',
  reviewTitle: 'Review the records',
  reviewText: 'These changes are added to the unsaved changes of the records. You save them there.',
  nothing: 'All these records already exist. Nothing would change.',
  add: (count: number) => `Add ${plural(count, 'change', 'changes')} to the records`,
  added: (count: number) => `${plural(count, 'change was', 'changes were')} added. Review and save them.`,
  missing: (count: number) =>
    `${plural(count, 'value is', 'values are')} empty. The records that need them are not added.`,
  warnings: {
    noMx: () => 'The domain has no mail server, so it cannot receive mail.',
    rejectWithoutDkim: () =>
      'DMARC rejects mail, but no DKIM record exists. Forwarded mail would be lost. Add DKIM first, or choose a milder policy.',
    tooManyLookups: (count: string) =>
      `The SPF record needs ${count} DNS lookups, but receivers stop after ten and treat the record as invalid (RFC 7208 §4.6.4). Remove a sender.`,
    policyListsServers: (domain: string) =>
      `The domain has an MTA-STS policy, which lists its mail servers. Add the new servers to https://mta-sts.${domain}/.well-known/mta-sts.txt before you save.`,
    reportConsent: (name: string) =>
      `The report address is in another domain. Its owner must publish the TXT record ${name} with the value v=DMARC1 (RFC 7489 §7.1).`,
  },
};
