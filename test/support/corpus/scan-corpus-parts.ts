// The parts that made zones are put together from: a site, mail, hosts, services, wildcards.

import { pick } from '../random/random-zones.ts';
import { bare, type Given, type ZoneDraft } from './scan-corpus-draft.ts';
import { mailProvider, type ProviderName } from './scan-corpus-mail.ts';
import {
  base32,
  COMPOUNDS,
  digits,
  drawWord,
  type Fold,
  hex,
  obscureName,
  type Trade,
  wordsOf,
} from './scan-corpus-names.ts';
import { SERVICES } from './scan-corpus-srv.ts';

export interface Setting {
  readonly fold: Fold;
  /** Of this kind, from 0. */
  readonly number: number;
  /** The names of the zone's own servers, as in NS. */
  readonly ns: readonly string[];
}

/** What stands at nearly every apex, and www. */
export function addSite(draft: ZoneDraft): void {
  draft.addresses('@', 'apex');
  const roll = draft.random();
  if (roll < 0.45) draft.add('www CNAME @', 'host');
  else if (roll < 0.6) draft.add('www CNAME cdn-edge.fastly.net.', 'host');
  else draft.addresses('www', 'host');
  if (draft.chance(0.2)) {
    for (const authority of ['letsencrypt.org', 'pki.goog'])
      draft.add(`@ CAA 0 issue "${authority}"`, 'apex');
  }
  if (draft.chance(0.1)) {
    draft.add('@ HTTPS 1 . alpn=h2,h3', 'apex');
    draft.add('www HTTPS 1 . alpn=h2,h3', 'host');
  }
  for (let i = Math.floor(8 * draft.random() ** 2); i > 0; i--) addVerification(draft);
  if (draft.chance(0.08)) draft.add(`_acme-challenge TXT "${base32(draft.random, 43)}"`, 'verification');
  if (draft.chance(0.05)) draft.add('_acme-challenge CNAME acme.validation.example.', 'verification');
  if (draft.chance(0.08)) draft.add(`_atproto TXT "did=did:plc:${base32(draft.random, 24)}"`, 'verification');
  if (draft.chance(0.1)) {
    const token = hex(draft.random, 32);
    draft.add(`_${token} CNAME _${hex(draft.random, 32)}.acm-validations.aws.`, 'verification', 'obscure');
  }
}

function addVerification(draft: ZoneDraft): void {
  const token = hex(draft.random, 32);
  const texts = [
    `google-site-verification=${base32(draft.random, 43)}`,
    `MS=ms${digits(draft.random, 8)}`,
    `facebook-domain-verification=${token}`,
    `apple-domain-verification=${token.slice(0, 16)}`,
    `atlassian-domain-verification=${base32(draft.random, 64)}`,
    `docusign=${token}`,
    `stripe-verification=${token}${token}`,
    `adobe-idp-site-verification=${token}${token}`,
    `have-i-been-pwned-verification=${token}`,
  ];
  draft.add(`@ TXT "${pick(draft.random, texts)}"`, 'apex');
}

export function addMail(draft: ZoneDraft, names: readonly ProviderName[]): void {
  const providers = [...new Set(names)].map((name) => mailProvider(name, bare(draft.domain), draft.random));
  const mx = providers.find((provider) => provider.mx.length > 0)?.mx ?? [];
  for (const rdata of mx) draft.add(`@ MX ${rdata}`, 'apex');
  const spf = providers.flatMap((provider) => provider.spf ?? []);
  draft.add(`@ TXT "v=spf1 ${spf.join(' ')} ~all"`, 'apex');
  for (const { selectors, more } of providers) {
    for (const { name, target, label } of selectors) addSelector(draft, `${name}._domainkey`, target, label);
    for (const line of more)
      draft.add(line, line.startsWith('_') ? 'SRV' : line.startsWith('@') ? 'apex' : 'host');
  }
  addMailPolicy(draft);
}

function addSelector(draft: ZoneDraft, owner: string, target: string | undefined, label: Given): void {
  const key = () => `"v=DKIM1; k=rsa; p=${base32(draft.random, 200)}" "${base32(draft.random, 190)}"`;
  draft.add(target === undefined ? `${owner} TXT ${key()}` : `${owner} CNAME ${target}`, 'DKIM', label);
}

function addMailPolicy(draft: ZoneDraft): void {
  const domain = bare(draft.domain);
  if (draft.chance(0.75)) {
    const value = `v=DMARC1; p=${pick(draft.random, ['none', 'quarantine', 'reject'])}; rua=mailto:dmarc@${domain}`;
    draft.add(
      draft.chance(0.85) ? `_dmarc TXT "${value}"` : `_dmarc CNAME ${domain}._d.easydmarc.pro.`,
      'mail policy',
    );
  }
  if (draft.chance(0.12)) {
    draft.add(`_mta-sts TXT "v=STSv1; id=${digits(draft.random, 12)}"`, 'mail policy');
    draft.host('mta-sts', 'mail policy');
  }
  if (draft.chance(0.12)) draft.add(`_smtp._tls TXT "v=TLSRPTv1; rua=mailto:tls@${domain}"`, 'mail policy');
  if (draft.chance(0.07))
    draft.add(`default._bimi TXT "v=BIMI1; l=https://${domain}/logo.svg"`, 'mail policy');
}

/** Mail and everything else on the web host, as its panel makes it. */
export function addHostedMail(draft: ZoneDraft): void {
  const address = draft.ipv4();
  const usual = [
    'mail',
    'ftp',
    'webmail',
    'cpanel',
    'webdisk',
    'autodiscover',
    'autoconfig',
    'cpcalendars',
    'cpcontacts',
    'whm',
  ];
  for (const name of usual.slice(0, draft.between(2, usual.length)))
    draft.add(`${name} A ${address}`, 'host');
  draft.add('@ MX 0 mail', 'apex');
  draft.add(`@ TXT "v=spf1 a mx ip4:${address} ~all"`, 'apex');
  addSelector(draft, 'default._domainkey', undefined, 'common');
  if (draft.chance(0.3)) draft.add('_autodiscover._tcp SRV 0 0 443 cpanelemaildiscovery.cpanel.net.', 'SRV');
  addMailPolicy(draft);
}

/** MX of its own, partly by names that only the MX tells. */
export function addOwnMail(draft: ZoneDraft, hosts: readonly string[]): void {
  for (const [i, usual] of hosts.entries()) {
    const host = draft.chance(0.3) ? obscureName(draft.random) : usual;
    draft.add(`@ MX ${10 * (i + 1)} ${host}`, 'apex');
    draft.addresses(host, host === usual ? 'host' : 'made up', host === usual ? 'common' : 'obscure');
    if (draft.chance(0.3))
      draft.add(`_25._tcp.${host} TLSA 3 1 1 ${hex(draft.random, 64)}`, 'DANE', 'obscure');
  }
  const other = obscureName(draft.random);
  draft.addresses(other, 'made up', 'obscure');
  draft.add(
    `_spf TXT "v=spf1 ip4:${draft.ipv4()} a:${other}.${bare(draft.domain)} -all"`,
    'mail policy',
    'obscure',
  );
  draft.add(`@ TXT "v=spf1 mx include:_spf.${bare(draft.domain)} ~all"`, 'apex');
  addSelector(draft, `${pick(draft.random, ['default', 'mail', 'dkim'])}._domainkey`, undefined, 'common');
  addSelector(draft, `${pick(draft.random, ['2023', '202401', 'rsa2048'])}._domainkey`, undefined, 'obscure');
  addMailPolicy(draft);
}

/** Under a name of its own, as its setup page proposes. */
export function addMailgun(draft: ZoneDraft): void {
  const name = pick(draft.random, ['mg', 'mg', 'mail', 'email']);
  for (const rdata of ['10 mxa.mailgun.org.', '10 mxb.mailgun.org.'])
    draft.add(`${name} MX ${rdata}`, 'host');
  draft.add(`${name} TXT "v=spf1 include:mailgun.org ~all"`, 'host');
  draft.add(`email.${name} CNAME mailgun.org.`, 'host of two labels');
  if (!draft.has(name)) return;
  addSelector(
    draft,
    `${pick(draft.random, ['smtp', 'k1', 'pic', 'mailo'])}._domainkey.${name}`,
    undefined,
    'learnable',
  );
}

export function addHosts(
  draft: ZoneDraft,
  { fold }: Setting,
  trades: readonly Trade[],
  low: number,
  high: number,
  sort: 'host' | 'beside a wildcard' = 'host',
): void {
  for (let left = draft.between(low, high); left > 0; left--) {
    const { text, label } = drawWord(draft.random, wordsOf(pick(draft.random, trades), fold));
    draft.host(text, sort, label);
  }
}

export function addCompounds(draft: ZoneDraft, low: number, high: number): void {
  for (let left = draft.between(low, high); left > 0; left--) {
    draft.host(pick(draft.random, COMPOUNDS), 'host of two labels');
  }
}

export function addMadeUp(draft: ZoneDraft, low: number, high: number): void {
  for (let left = draft.between(low, high); left > 0; left--) {
    draft.host(obscureName(draft.random), 'made up', 'obscure');
  }
}

/** Hosts of a region or a stage: two labels with luck, three without. */
export function addDeepHost(draft: ZoneDraft, { fold }: Setting): void {
  const stage = pick(draft.random, ['dev', 'staging', 'prod', 'test', 'internal', 'qa']);
  const { text: role } = drawWord(draft.random, wordsOf('operations', fold));
  const place = pick(draft.random, ['fra1', 'eu-west-1', 'us-east-1', 'ams', 'node01']);
  if (draft.chance(0.4)) draft.host(`${role}.${stage}`, 'host of two labels', 'obscure');
  else draft.host(`${role}.${place}.${stage}`, 'host of more labels', 'obscure');
}

export function addDepartment(draft: ZoneDraft, { fold, ns }: Setting): void {
  const { text: name, label } = drawWord(draft.random, wordsOf('campus', fold));
  if (draft.chance(0.4)) {
    draft.cut(name, pick(draft.random, ['below', 'elsewhere'] as const), label, ns);
    return;
  }
  draft.host(`www.${name}`, 'host of two labels', label);
  for (let left = draft.between(1, 4); left > 0; left--) {
    draft.host(`${obscureName(draft.random)}.${name}`, 'host of two labels', 'obscure');
  }
}

export function addService(draft: ZoneDraft, name: string): void {
  const service = SERVICES[name];
  if (service === undefined) return;
  const isMadeUp = draft.chance(0.3);
  const host = isMadeUp ? obscureName(draft.random) : service.host;
  draft.addresses(host, isMadeUp ? 'made up' : 'host', 'obscure');
  for (const line of service.records) {
    draft.add(
      line.replace('HOST', host).replace('DOMAIN', draft.domain),
      line.startsWith('@') ? 'apex' : 'SRV',
    );
  }
}

/** Everything below `name` (nothing: the apex) has one address or one target. */
export function addWildcard(draft: ZoneDraft, name: string): void {
  const owner = name === '' ? '*' : `*.${name}`;
  if (draft.chance(0.6)) draft.add(`${owner} A ${draft.ipv4()}`, 'wildcard');
  else draft.add(`${owner} CNAME ${draft.chance(0.5) ? '@' : 'ingress.hosting-platform.net.'}`, 'wildcard');
  if (name !== '' && draft.chance(0.5)) draft.host(name, 'host');
}

/** Names that say what the wildcard says: made by hand, or by a panel, before there was one. */
export function addShadows(draft: ZoneDraft, { fold }: Setting): void {
  const wildcard = draft.records.filter(({ sort }) => sort === 'wildcard');
  const [only] = wildcard;
  if (only === undefined || wildcard.length > 1 || only.rdata.length !== 4) return;
  for (const name of [drawWord(draft.random, wordsOf('web', fold)).text, obscureName(draft.random)]) {
    if (!draft.has(name)) draft.add(`${name} A ${[...only.rdata].join('.')}`, 'beside a wildcard', 'obscure');
  }
}
