// Checks whether a name is a public suffix, such as `com` or `co.uk`: a zone whose nameservers are not chosen by a customer.

import { parse as parseSuffix } from 'tldts';
import { type Name, parentOf, ROOT } from '../../dns/name.ts';
import { printWithoutDot } from '../name-text.ts';

/** Returns true for a name that `isListedSuffix` accepts, and for each other name of one label. */
export function isPublicSuffix(name: Name): boolean {
  if (name === ROOT) return false;
  return parentOf(name) === ROOT || isListedSuffix(name);
}

/** Returns true if the ICANN section of the list contains the name. */
export function isListedSuffix(name: Name): boolean {
  const text = printWithoutDot(name);
  const { publicSuffix, isIcann } = parseSuffix(text, {
    allowPrivateDomains: false,
    validateHostname: false,
  });
  return isIcann === true && publicSuffix === text;
}

/** Returns true if a name is registered below a public suffix of ICANN, or is below such a name. */
export function isBelowPublicSuffix(name: Name): boolean {
  const { domain, isIcann } = parseSuffix(printWithoutDot(name), {
    allowPrivateDomains: false,
    validateHostname: false,
  });
  return isIcann === true && domain !== null;
}
