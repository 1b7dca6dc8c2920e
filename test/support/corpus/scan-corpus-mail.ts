// How mail of a domain is set up with the providers that many use: MX, SPF and the DKIM selectors that these prescribe. From
// the providers' own setup pages.

import { pick, type Random } from '../random/random-zones.ts';
import { base32, digits, hex } from './scan-corpus-names.ts';

/** What a selector is to a scanner that has seen only MX and SPF. */
export type SelectorLabel = 'learnable' | 'common' | 'obscure';

export interface Selector {
  /** Before `._domainkey`. */
  readonly name: string;
  /** Of a CNAME; undefined: the key itself stands there. */
  readonly target?: string;
  readonly label: SelectorLabel;
}

export interface MailProvider {
  readonly name: string;
  /** None where a provider only sends. */
  readonly mx: readonly string[];
  /** Of SPF. */
  readonly spf: string | undefined;
  readonly selectors: readonly Selector[];
  /** Further records, as `name TYPE rdata`; their names are common. */
  readonly more: readonly string[];
}

/** `domain` without the final dot. */
type Provider = (domain: string, random: Random) => Omit<MailProvider, 'name'>;

const keys = (...names: string[]): Selector[] => names.map((name) => ({ name, label: 'learnable' }));
const aliases = (names: readonly string[], target: (name: string) => string): Selector[] =>
  names.map((name) => ({ name, target: target(name), label: 'learnable' }));
const dashed = (domain: string) => domain.replaceAll('.', '-');

/** The ten that every corpus has, in the order of the zones. */
export const TEN_PROVIDERS = {
  google: () => ({
    mx: [
      '1 aspmx.l.google.com.',
      '5 alt1.aspmx.l.google.com.',
      '5 alt2.aspmx.l.google.com.',
      '10 alt3.aspmx.l.google.com.',
    ],
    spf: 'include:_spf.google.com',
    selectors: keys('google'),
    more: [],
  }),
  microsoft: (domain) => ({
    mx: [`0 ${dashed(domain)}.mail.protection.outlook.com.`],
    spf: 'include:spf.protection.outlook.com',
    selectors: aliases(
      ['selector1', 'selector2'],
      (name) => `${name}-${dashed(domain)}._domainkey.tenant${dashed(domain)}.onmicrosoft.com.`,
    ),
    more: [
      'autodiscover CNAME autodiscover.outlook.com.',
      'sip CNAME sipdir.online.lync.com.',
      'lyncdiscover CNAME webdir.online.lync.com.',
      'enterpriseregistration CNAME enterpriseregistration.windows.net.',
      'enterpriseenrollment CNAME enterpriseenrollment.manage.microsoft.com.',
      '_sip._tls SRV 100 1 443 sipdir.online.lync.com.',
      '_sipfederationtls._tcp SRV 100 1 5061 sipfed.online.lync.com.',
    ],
  }),
  zoho: () => ({
    mx: ['10 mx.zoho.eu.', '20 mx2.zoho.eu.', '50 mx3.zoho.eu.'],
    spf: 'include:zohomail.eu',
    selectors: keys('zmail'),
    more: [],
  }),
  fastmail: (domain) => ({
    mx: ['10 in1-smtp.messagingengine.com.', '20 in2-smtp.messagingengine.com.'],
    spf: 'include:spf.messagingengine.com',
    selectors: aliases(['fm1', 'fm2', 'fm3'], (name) => `${name}.${domain}.dkim.fmhosted.com.`),
    more: [
      'mail CNAME mail.fastmail.com.',
      '_imaps._tcp SRV 0 1 993 imap.fastmail.com.',
      '_submission._tcp SRV 0 1 587 smtp.fastmail.com.',
      '_caldavs._tcp SRV 0 1 443 caldav.fastmail.com.',
      '_carddavs._tcp SRV 0 1 443 carddav.fastmail.com.',
      '_jmap._tcp SRV 0 1 443 api.fastmail.com.',
    ],
  }),
  proton: (_, random) => {
    const account = base32(random, 24);
    return {
      mx: ['10 mail.protonmail.ch.', '20 mailsec.protonmail.ch.'],
      spf: 'include:_spf.protonmail.ch',
      selectors: aliases(
        ['protonmail', 'protonmail2', 'protonmail3'],
        (name) => `${name}.domainkey.d${account}.domains.proton.ch.`,
      ),
      more: [`@ TXT "protonmail-verification=${hex(random, 40)}"`],
    };
  },
  icloud: (domain, random) => ({
    mx: ['10 mx01.mail.icloud.com.', '10 mx02.mail.icloud.com.'],
    spf: 'include:icloud.com',
    selectors: aliases(['sig1'], (name) => `${name}.dkim.${domain}.at.icloudmailadmin.com.`),
    more: [`@ TXT "apple-domain=${base32(random, 16)}"`],
  }),
  mailgun: (_, random) => ({
    mx: [],
    spf: 'include:mailgun.org',
    selectors: keys(pick(random, ['k1', 'smtp', 'pic', 'mailo'])),
    more: [
      'email CNAME mailgun.org.',
      'mg MX 10 mxa.mailgun.org.',
      'mg TXT "v=spf1 include:mailgun.org ~all"',
    ],
  }),
  sendgrid: (_, random) => {
    const account = `u${digits(random, 7)}.wl${digits(random, 3)}.sendgrid.net.`;
    return {
      mx: [],
      spf: 'include:sendgrid.net',
      selectors: aliases(['s1', 's2'], (name) => `${name}.domainkey.${account}`),
      more: [],
    };
  },
  mailchimp: () => ({
    mx: [],
    spf: 'include:servers.mcsv.net',
    selectors: aliases(['k1', 'k2', 'k3'], (name) =>
      name === 'k1' ? 'dkim.mcsv.net.' : `dkim${name.slice(1)}.mcsv.net.`,
    ),
    more: [],
  }),
  amazon: (_, random) => ({
    mx: ['10 inbound-smtp.eu-west-1.amazonaws.com.'],
    spf: 'include:amazonses.com',
    // Easy DKIM draws its selectors at random, so no record leads to them.
    selectors: Array.from({ length: 3 }, () => base32(random, 32)).map((name) => ({
      name,
      target: `${name}.dkim.amazonses.com.`,
      label: 'obscure' as const,
    })),
    more: [`_amazonses TXT "${hex(random, 43)}="`],
  }),
} satisfies Record<string, Provider>;

/** Further ones: where many domains have their mail, and who sends for shops and for those who write invoices. */
const MAILBOXES = {
  ionos: () => ({
    mx: ['10 mx00.ionos.de.', '10 mx01.ionos.de.'],
    spf: 'include:_spf-eu.ionos.com',
    selectors: aliases(['s1-ionos', 's2-ionos'], (name) => `${name.slice(0, 2)}.dkim.ionos.com.`),
    more: ['autodiscover CNAME adsredir.ionos.info.'],
  }),
  gandi: () => ({
    mx: ['10 spool.mail.gandi.net.', '50 fb.mail.gandi.net.'],
    spf: 'include:_mailcust.gandi.net',
    selectors: aliases(['gm1', 'gm2', 'gm3'], (name) => `${name}.gandimail.net.`),
    more: ['webmail CNAME webmail.gandi.net.', '_imaps._tcp SRV 0 1 993 mail.gandi.net.'],
  }),
  ovh: (_, random) => {
    const account = `ovhmo${digits(random, 7)}`;
    return {
      mx: ['1 mx1.mail.ovh.net.', '5 mx2.mail.ovh.net.', '100 mx3.mail.ovh.net.'],
      spf: 'include:mx.ovh.com',
      selectors: [
        { name: `${account}-selector1`, target: `${account}.dkim.mail.ovh.net.`, label: 'obscure' },
      ],
      more: ['autoconfig CNAME mailconfig.ovh.net.', '_autodiscover._tcp SRV 0 0 443 mailconfig.ovh.net.'],
    };
  },
  yandex: () => ({
    mx: ['10 mx.yandex.net.'],
    spf: 'include:_spf.yandex.net',
    selectors: keys('mail'),
    more: ['mail CNAME domain.mail.yandex.net.'],
  }),
  migadu: (domain) => ({
    mx: ['10 aspmx1.migadu.com.', '20 aspmx2.migadu.com.'],
    spf: 'include:spf.migadu.com',
    selectors: aliases(['key1', 'key2', 'key3'], (name) => `${name}.${domain}._domainkey.migadu.com.`),
    more: [
      'autoconfig CNAME autoconfig.migadu.com.',
      '_autodiscover._tcp SRV 0 1 443 autodiscover.migadu.com.',
      '_submissions._tcp SRV 0 1 465 smtp.migadu.com.',
      '_imaps._tcp SRV 0 1 993 imap.migadu.com.',
      '_pop3s._tcp SRV 0 1 995 pop.migadu.com.',
    ],
  }),
} satisfies Record<string, Provider>;

const SENDERS = {
  brevo: () => ({
    mx: [],
    spf: 'include:spf.brevo.com',
    selectors: aliases(['brevo1', 'brevo2'], (name) => `b${name.at(-1)}.dkim.brevo.com.`),
    more: [],
  }),
  mailjet: () => ({ mx: [], spf: 'include:spf.mailjet.com', selectors: keys('mailjet'), more: [] }),
  mandrill: () => ({ mx: [], spf: 'include:spf.mandrillapp.com', selectors: keys('mandrill'), more: [] }),
  zendesk: (_, random) => ({
    mx: [],
    spf: 'include:mail.zendesk.com',
    selectors: aliases(['zendesk1', 'zendesk2'], (name) => `${name}._domainkey.zendesk.com.`),
    more: [`zendeskverification TXT "${hex(random, 16)}"`],
  }),
  postmark: (_, random) => ({
    mx: [],
    spf: undefined,
    selectors: [{ name: `2024${digits(random, 10)}pm`, label: 'obscure' }],
    more: ['pm-bounces CNAME pm.mtasv.net.'],
  }),
  hubspot: (domain, random) => {
    const account = digits(random, 7);
    return {
      mx: [],
      spf: `include:${account}.spf05.hubspotemail.net`,
      selectors: ['hs1', 'hs2'].map((name) => ({
        name: `${name}-${account}`,
        target: `${dashed(domain)}.${name}.hubspotemail.net.`,
        label: 'obscure' as const,
      })),
      more: [],
    };
  },
} satisfies Record<string, Provider>;

const ALL: Readonly<Record<string, Provider>> = { ...TEN_PROVIDERS, ...MAILBOXES, ...SENDERS };

export type ProviderName = keyof typeof TEN_PROVIDERS | keyof typeof MAILBOXES | keyof typeof SENDERS;

/** As often as it is about so: two of them have most of all mailboxes. */
const DRAWN: readonly ProviderName[] = [
  ...(['google', 'google', 'google', 'google', 'microsoft', 'microsoft', 'microsoft', 'microsoft'] as const),
  ...(['ionos', 'gandi', 'ovh', 'zoho', 'yandex', 'fastmail', 'proton', 'icloud', 'migadu'] as const),
];

export const drawMailboxes = (random: Random): ProviderName => pick(random, DRAWN);
export const drawSender = (random: Random): ProviderName =>
  pick(random, [...(Object.keys(SENDERS) as ProviderName[]), 'sendgrid', 'mailchimp', 'mailgun', 'amazon']);

/** `domain` without the final dot. */
export function mailProvider(name: ProviderName, domain: string, random: Random): MailProvider {
  return { name, ...(ALL[name] as Provider)(domain, random) };
}
