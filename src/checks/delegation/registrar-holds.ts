// Recognizes nameservers that registrars set while they hold a domain, from a table of known names and from words in other
// names' labels. The result is a guess that adds a sentence to a finding. No status depends on it.

import { getDomain } from 'tldts';
import { foldCase, isWithin, type Name, printName } from '../../dns/name.ts';

/** Why the registrar replaced the nameservers. */
export type HoldKind =
  /** The owner has not confirmed the e-mail address or the contact details, which ICANN requires within 15 days. */
  'verification' | 'suspension' | 'expiry' | 'parking';

/**
 * Names that registrars and parking services use. A pattern matches its name and all names below it. dns-parking.com
 * (Hostinger) and other default nameservers of registrars are not listed, because they answer for ordinary domains.
 */
const KNOWN: readonly { readonly pattern: string; readonly kind: HoldKind }[] = [
  { pattern: 'registrant-verification.ispapi.net', kind: 'verification' }, // HEXONET
  { pattern: 'registrant-verification.com', kind: 'verification' },
  { pattern: 'emailverification.info', kind: 'verification' }, // Key-Systems
  { pattern: 'failed-whois-verification.namecheap.com', kind: 'verification' },
  { pattern: 'verify-contact-details.namecheap.com', kind: 'verification' },
  { pattern: 'verification-hold.suspended-domain.com', kind: 'verification' }, // PublicDomainRegistry
  { pattern: 'suspended-domain.com', kind: 'suspension' },
  { pattern: 'suspended.page', kind: 'suspension' },
  { pattern: 'pendingrenewaldeletion.com', kind: 'expiry' }, // Network Solutions
  { pattern: 'renewyourname.net', kind: 'expiry' }, // Tucows
  { pattern: 'expirationwarning.net', kind: 'expiry' }, // Key-Systems
  { pattern: 'expirenotification.com', kind: 'expiry' },
  { pattern: 'domainhasexpired.com', kind: 'expiry' },
  { pattern: 'onamae-expired.com', kind: 'expiry' },
  { pattern: 'dns-expired.com', kind: 'expiry' },
  { pattern: 'expirens3.hichina.com', kind: 'expiry' }, // Alibaba Cloud
  { pattern: 'expirens4.hichina.com', kind: 'expiry' },
  { pattern: 'expireddomain.hyp.net', kind: 'expiry' }, // Domeneshop
  { pattern: 'sedoparking.com', kind: 'parking' },
  { pattern: 'parkingcrew.net', kind: 'parking' },
  { pattern: 'bodis.com', kind: 'parking' },
  { pattern: 'parklogic.com', kind: 'parking' },
  { pattern: 'above.com', kind: 'parking' },
  { pattern: 'cashparking.com', kind: 'parking' },
  { pattern: 'sslparking.com', kind: 'parking' },
  { pattern: 'parking-page.net', kind: 'parking' },
  { pattern: 'domainparking.ru', kind: 'parking' },
  { pattern: 'ztomy.com', kind: 'parking' },
  { pattern: 'parkingpage.namecheap.com', kind: 'parking' },
];

/** Parts of labels, between hyphens, that indicate a hold. If a name has several, the first one in this list counts. */
const WORDS: readonly (readonly [word: string, kind: HoldKind])[] = [
  ['verification', 'verification'],
  ['verify', 'verification'],
  ['suspended', 'suspension'],
  ['expired', 'expiry'],
  ['parking', 'parking'],
];
/** Parts that registrars combine with these words, as in `suspended-domain` (but not in `parking-lot`). */
const COMPANIONS: ReadonlySet<string> = new Set(
  'contact details domain domains failed hold registrant whois'.split(' '),
);

/** Returns undefined unless the name of every nameserver indicates a hold. Names within the domain never do. */
export function registrarHold(domain: Name, nameservers: readonly Name[]): HoldKind | undefined {
  const kinds = nameservers.map((name) => (isWithin(name, domain) ? undefined : holdOf(name)));
  return kinds.includes(undefined) ? undefined : kinds[0];
}

function holdOf(nameserver: Name): HoldKind | undefined {
  const host = printName(foldCase(nameserver)).slice(0, -1);
  const known = KNOWN.find(({ pattern }) => host === pattern || host.endsWith(`.${pattern}`));
  return known?.kind ?? holdByWords(host);
}

/**
 * In labels below the registered domain one word is enough, except `parking`. The label of the registered domain may be any
 * company's name, so it must consist only of such words, and of at least two.
 */
function holdByWords(host: string): HoldKind | undefined {
  const labels = host.split('.').map((label) => label.replace(/[0-9]+$/, '').split('-'));
  const depth = getDomain(host, { validateHostname: false })?.split('.').length ?? labels.length;
  const registered = labels.at(-depth) ?? [];
  const below = labels.slice(0, -depth);
  return WORDS.find(
    ([word]) =>
      below.some((parts) => parts.includes(word) && (word !== 'parking' || isPhrase(parts))) ||
      (registered.length > 1 && registered.includes(word) && isPhrase(registered)),
  )?.[1];
}

function isPhrase(parts: readonly string[]): boolean {
  return parts.every((part) => COMPANIONS.has(part) || WORDS.some(([word]) => word === part));
}
