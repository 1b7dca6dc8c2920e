// DKIM selectors: those of the mail providers found in a domain's MX and SPF records, and common ones
// (words/selectors.txt).

import { groupOf, readWordGroups } from './read-words.ts';

/** `at`: the suffix of an MX host, or of a name in an SPF include. */
interface Provider {
  readonly at: readonly string[];
  /** `%` represents the number at the start of the SPF name. */
  readonly selectors: readonly string[];
  /** Other names that the provider's customers create below the sending name: for bounces, links, images and proofs. */
  readonly companions: readonly string[];
}

/** The group of the selectors that are tried regardless of the provider. */
const ANY = 'any';
const GROUPS = readWordGroups('selectors', ['selectors'], ['companions']);

const PROVIDERS: readonly Provider[] = GROUPS.filter(({ head }) => head !== ANY).map(
  ({ head, selectors, companions }) => ({ at: head.split(' '), selectors, companions }),
);

/** Selectors that are tried regardless of the provider, because a provider may leave no trace. */
export const COMMON_SELECTORS: readonly string[] = groupOf(GROUPS, ANY).selectors;

/** Returns the smallest subset of `hosts` that identifies the same providers: one host per provider. */
export function tellingHosts(hosts: readonly string[]): string[] {
  return [...new Set(PROVIDERS.flatMap(({ at }) => hostAt(at, hosts) ?? []))];
}

/** `hosts`: the hosts in MX and SPF records, in lower case without a trailing dot. Returns the likely selectors first. */
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

/** Returns the providers' names, relative to the sending name. */
export function companionsOf(hosts: readonly string[]): string[] {
  const known = PROVIDERS.filter(({ at }) => hostAt(at, hosts) !== undefined);
  return [...new Set(known.flatMap(({ companions }) => companions))];
}

/** Prefers a host with a number if there are several. */
function hostAt(ends: readonly string[], hosts: readonly string[]): string | undefined {
  const there = hosts.filter((each) => ends.some((end) => each === end || each.endsWith(`.${end}`)));
  return there.find((each) => /^[0-9]/.test(each)) ?? there[0];
}

/** Texts that prove a domain to a provider, each with a host of that provider. */
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
