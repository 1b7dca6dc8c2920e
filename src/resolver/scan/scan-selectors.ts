// DKIM selectors: those of the mail providers that a domain's MX and SPF reveal, and common ones (words/selectors.txt).

import { groupOf, readWordGroups } from './read-words.ts';

/** `at`: the end of an MX host, or of a name that SPF includes. */
interface Provider {
  readonly at: readonly string[];
  /** `%` stands for the number that the SPF name begins with. */
  readonly selectors: readonly string[];
  /**
   * Other names that customers of the provider make, below the name that mail is sent from: for bounces, links,
   * pictures, proofs.
   */
  readonly companions: readonly string[];
}

/** The group of the selectors that are tried besides those of the providers. */
const ANY = 'any';
const GROUPS = readWordGroups('selectors', ['selectors'], ['companions']);

const PROVIDERS: readonly Provider[] = GROUPS.filter(({ head }) => head !== ANY).map(
  ({ head, selectors, companions }) => ({ at: head.split(' '), selectors, companions }),
);

/** Selectors that are tried besides those of the providers: a provider's sign may be missing. */
export const COMMON_SELECTORS: readonly string[] = groupOf(GROUPS, ANY).selectors;

/** The fewest of `hosts` that show the same providers: one host for each provider. */
export function tellingHosts(hosts: readonly string[]): string[] {
  return [...new Set(PROVIDERS.flatMap(({ at }) => hostAt(at, hosts) ?? []))];
}

/** `hosts`: the hosts that MX and SPF name, without a final dot, in lower case. The likely selectors come first. */
export function selectorsOf(hosts: readonly string[]): string[] {
  const selectors = new Set<string>();
  for (const { at, selectors: known } of PROVIDERS) {
    const host = hostAt(at, hosts);
    if (host === undefined) continue;
    const number = /^[0-9]+/.exec(host)?.[0];
    for (const selector of known) {
      if (!selector.includes('%')) selectors.add(selector);
      else if (number !== undefined) selectors.add(selector.replace('%', number));
    }
  }
  return [...selectors];
}

/** Names that belong to the providers, relative to the name that mail is sent from. */
export function companionsOf(hosts: readonly string[]): string[] {
  const known = PROVIDERS.filter(({ at }) => hostAt(at, hosts) !== undefined);
  return [...new Set(known.flatMap(({ companions }) => companions))];
}

/** Prefers a host with a number when there are several. */
function hostAt(ends: readonly string[], hosts: readonly string[]): string | undefined {
  const there = hosts.filter((each) => ends.some((end) => each === end || each.endsWith(`.${end}`)));
  return there.find((each) => /^[0-9]/.test(each)) ?? there[0];
}

/** Texts by which a domain proves itself to a provider, each with a host of that provider. */
const PROOFS: readonly (readonly [RegExp, string])[] = [
  [/^ms=/, 'outlook.com'],
  [/^(sendinblue|brevo)-code[:=]/, 'brevo.com'],
  [/^protonmail-verification=/, 'proton.me'],
  [/^apple-domain=/, 'icloud.com'],
  [/^zoho-verification=/, 'zoho.com'],
  [/^klaviyo-site-verification=/, 'klaviyo.com'],
  [/^hubspot-(developer|domain)-verification=/, 'hubspot.net'],
  [/^firebase=/, 'firebasemail.com'],
  [/^mailru-verification[:=]/, 'mail.ru'],
  [/^yandex-verification[:=]/, 'yandex.net'],
  [/^pardot[0-9_a-z]*=/, 'pardot.com'],
  [/^mandrill_verify/, 'mandrillapp.com'],
  [/^hosted-email-verify=/, 'migadu.com'],
];

/** `text` is in lower case. */
export function proofHosts(text: string): string[] {
  return PROOFS.filter(([shape]) => shape.test(text)).map(([, host]) => host);
}
