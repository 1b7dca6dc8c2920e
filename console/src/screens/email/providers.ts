// Mail providers and the records that they document for a customer's domain. A line is a record in the order of a zone file;
// `{dkim}` and other placeholders are values of the account, which the person pastes.

export interface Provider {
  readonly id: string;
  readonly name: string;
  /** True for services that only send, such as newsletters. */
  readonly isSender?: true;
  /** Mechanism of the SPF record (RFC 7208 §5). Undefined if the provider uses a return path of its own. */
  readonly spf?: string;
  readonly records: readonly string[];
  /** Values that are usually right. */
  readonly defaults?: Readonly<Record<string, string>>;
  /** Ends of the names of its mail servers, if `records` do not have them. */
  readonly servers?: readonly string[];
}

const dkim = (selectors: readonly string[], target: (selector: string) => string) =>
  selectors.map((selector) => `${selector}._domainkey CNAME ${target(selector)}`);

const MAILBOXES: readonly Provider[] = [
  {
    id: 'google',
    name: 'Google Workspace',
    spf: 'include:_spf.google.com',
    servers: ['.google.com', '.googlemail.com'],
    records: ['@ MX 1 smtp.google.com', 'google._domainkey TXT {dkim}', '@ TXT {verification}'],
  },
  {
    id: 'microsoft',
    name: 'Microsoft 365',
    spf: 'include:spf.protection.outlook.com',
    servers: ['.mail.protection.outlook.com', '.mx.microsoft'],
    defaults: { mx: '{dashes}.mail.protection.outlook.com' },
    records: [
      '@ MX 0 {mx}',
      'autodiscover CNAME autodiscover.outlook.com',
      'selector1._domainkey CNAME {target1}',
      'selector2._domainkey CNAME {target2}',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'zoho',
    name: 'Zoho Mail (zoho.com)',
    spf: 'include:zohomail.com',
    records: [
      '@ MX 10 mx.zoho.com',
      '@ MX 20 mx2.zoho.com',
      '@ MX 50 mx3.zoho.com',
      '{selector}._domainkey TXT {dkim}',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'zoho-eu',
    name: 'Zoho Mail (zoho.eu)',
    spf: 'include:zohomail.eu',
    records: [
      '@ MX 10 mx.zoho.eu',
      '@ MX 20 mx2.zoho.eu',
      '@ MX 50 mx3.zoho.eu',
      '{selector}._domainkey TXT {dkim}',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'fastmail',
    name: 'Fastmail',
    spf: 'include:spf.messagingengine.com',
    records: [
      '@ MX 10 in1-smtp.messagingengine.com',
      '@ MX 20 in2-smtp.messagingengine.com',
      ...dkim(['fm1', 'fm2', 'fm3'], (selector) => `${selector}.{domain}.dkim.fmhosted.com`),
    ],
  },
  {
    id: 'proton',
    name: 'Proton Mail',
    spf: 'include:_spf.protonmail.ch',
    records: [
      '@ MX 10 mail.protonmail.ch',
      '@ MX 20 mailsec.protonmail.ch',
      'protonmail._domainkey CNAME {target1}',
      'protonmail2._domainkey CNAME {target2}',
      'protonmail3._domainkey CNAME {target3}',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'icloud',
    name: 'iCloud+',
    spf: 'include:icloud.com',
    records: [
      '@ MX 10 mx01.mail.icloud.com',
      '@ MX 10 mx02.mail.icloud.com',
      'sig1._domainkey CNAME sig1.dkim.{domain}.at.icloudmailadmin.com',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'yandex',
    name: 'Yandex 360',
    spf: 'include:_spf.yandex.net',
    records: ['@ MX 10 mx.yandex.net', 'mail._domainkey TXT {dkim}', '@ TXT {verification}'],
  },
  {
    id: 'mailbox-org',
    name: 'mailbox.org',
    spf: 'include:mailbox.org',
    records: [
      '@ MX 10 mxext1.mailbox.org',
      '@ MX 10 mxext2.mailbox.org',
      '@ MX 20 mxext3.mailbox.org',
      ...dkim(
        ['MBO0001', 'MBO0002', 'MBO0003', 'MBO0004'],
        (selector) => `${selector}._domainkey.mailbox.org`,
      ),
    ],
  },
  {
    id: 'hostinger',
    name: 'Hostinger',
    spf: 'include:_spf.mail.hostinger.com',
    records: [
      '@ MX 5 mx1.hostinger.com',
      '@ MX 10 mx2.hostinger.com',
      ...dkim(
        ['hostingermail-a', 'hostingermail-b', 'hostingermail-c'],
        (selector) => `${selector}.dkim.mail.hostinger.com`,
      ),
    ],
  },
  {
    id: 'private-email',
    name: 'Namecheap Private Email',
    spf: 'include:spf.privateemail.com',
    records: [
      '@ MX 10 mx1.privateemail.com',
      '@ MX 10 mx2.privateemail.com',
      'default._domainkey TXT {dkim}',
    ],
  },
  {
    id: 'ionos',
    name: 'IONOS (ionos.com)',
    spf: 'include:_spf-us.ionos.com',
    records: ['@ MX 10 mx00.ionos.com', '@ MX 10 mx01.ionos.com', '{selector}._domainkey CNAME {target}'],
  },
  {
    id: 'ionos-de',
    name: 'IONOS (ionos.de)',
    spf: 'include:_spf-eu.ionos.com',
    records: ['@ MX 10 mx00.ionos.de', '@ MX 10 mx01.ionos.de', '{selector}._domainkey CNAME {target}'],
  },
  {
    id: 'ovh',
    name: 'OVHcloud MX Plan',
    spf: 'include:mx.ovh.com',
    records: [
      '@ MX 1 mx1.mail.ovh.net',
      '@ MX 5 mx2.mail.ovh.net',
      '@ MX 100 mx3.mail.ovh.net',
      '{selector}._domainkey CNAME {target}',
    ],
  },
  {
    id: 'titan',
    name: 'Titan',
    spf: 'include:spf.titan.email',
    records: ['@ MX 10 mx1.titan.email', '@ MX 20 mx2.titan.email', '{selector}._domainkey TXT {dkim}'],
  },
  {
    id: 'rackspace',
    name: 'Rackspace Email',
    spf: 'include:emailsrvr.com',
    records: ['@ MX 10 mx1.emailsrvr.com', '@ MX 20 mx2.emailsrvr.com', '{selector}._domainkey TXT {dkim}'],
  },
  {
    id: 'migadu',
    name: 'Migadu',
    spf: 'include:spf.migadu.com',
    records: [
      '@ MX 10 aspmx1.migadu.com',
      '@ MX 20 aspmx2.migadu.com',
      ...dkim(['key1', 'key2', 'key3'], (selector) => `${selector}.{domain}._domainkey.migadu.com`),
      '@ TXT {verification}',
    ],
  },
  {
    id: 'tuta',
    name: 'Tuta',
    spf: 'include:spf.tutanota.de',
    records: [
      '@ MX 10 mail.tutanota.de',
      ...dkim(['s1', 's2'], (selector) => `${selector}.domainkey.tutanota.de`),
      '@ TXT {verification}',
    ],
  },
  {
    id: 'gandi',
    name: 'Gandi',
    spf: 'include:_mailcust.gandi.net',
    records: [
      '@ MX 10 spool.mail.gandi.net',
      '@ MX 50 fb.mail.gandi.net',
      ...dkim(['gm1', 'gm2', 'gm3'], (selector) => `${selector}.gandimail.net`),
    ],
  },
  {
    id: 'infomaniak',
    name: 'Infomaniak',
    spf: 'include:spf.infomaniak.ch',
    records: ['@ MX 5 mta-gw.infomaniak.ch', '{selector}._domainkey TXT {dkim}'],
  },
  {
    id: 'workmail',
    name: 'Amazon WorkMail',
    servers: ['.amazonaws.com'],
    spf: 'include:amazonses.com',
    records: [
      '@ MX 10 inbound-smtp.{region}.amazonaws.com',
      'autodiscover CNAME autodiscover.mail.{region}.awsapps.com',
      '{token1}._domainkey CNAME {token1}.dkim.amazonses.com',
      '{token2}._domainkey CNAME {token2}.dkim.amazonses.com',
      '{token3}._domainkey CNAME {token3}.dkim.amazonses.com',
      '_amazonses TXT {verification}',
    ],
  },
];

const SENDERS: readonly Provider[] = [
  {
    id: 'ses',
    name: 'Amazon SES',
    isSender: true,
    records: [
      '{token1}._domainkey CNAME {token1}.dkim.amazonses.com',
      '{token2}._domainkey CNAME {token2}.dkim.amazonses.com',
      '{token3}._domainkey CNAME {token3}.dkim.amazonses.com',
    ],
  },
  {
    id: 'brevo',
    name: 'Brevo',
    isSender: true,
    records: [
      'brevo1._domainkey CNAME b1.{dashes}.dkim.brevo.com',
      'brevo2._domainkey CNAME b2.{dashes}.dkim.brevo.com',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'mailchimp',
    name: 'Mailchimp',
    isSender: true,
    records: ['k2._domainkey CNAME dkim2.mcsv.net', 'k3._domainkey CNAME dkim3.mcsv.net'],
  },
  {
    id: 'mandrill',
    name: 'Mailchimp Transactional (Mandrill)',
    isSender: true,
    records: [
      'mte1._domainkey CNAME dkim1.mandrillapp.com',
      'mte2._domainkey CNAME dkim2.mandrillapp.com',
      '@ TXT {verification}',
    ],
  },
  {
    id: 'mailgun',
    name: 'Mailgun',
    isSender: true,
    spf: 'include:mailgun.org',
    records: ['{selector}._domainkey TXT {dkim}'],
  },
  {
    id: 'postmark',
    name: 'Postmark',
    isSender: true,
    records: ['{selector}._domainkey TXT {dkim}', 'pm-bounces CNAME pm.mtasv.net'],
  },
  {
    id: 'sendgrid',
    name: 'SendGrid',
    isSender: true,
    records: [
      's1._domainkey CNAME {target1}',
      's2._domainkey CNAME {target2}',
      '{returnName} CNAME {returnTarget}',
    ],
  },
];

export const PROVIDERS: readonly Provider[] = [...MAILBOXES, ...SENDERS];

/** Returns the provider of a mail server. */
export function providerOfServer(host: string): Provider | undefined {
  const name = `.${host.toLowerCase().replace(/\.$/, '')}`;
  const serversOf = ({ servers, records }: Provider) =>
    servers ?? records.flatMap((line) => /^@ MX \d+ (.+)$/.exec(line)?.[1]?.replace(/^/, '.') ?? []);
  return MAILBOXES.find((each) => serversOf(each).some((end) => name.endsWith(end)));
}

export function providerOf(id: string): Provider | undefined {
  return PROVIDERS.find((each) => each.id === id);
}
