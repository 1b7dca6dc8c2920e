// Whether a name is a public suffix, such as `com` or `co.uk`: a zone whose name servers no customer chooses.

import { parse as parseSuffix } from 'tldts';
import { type Name, parentOf, ROOT } from '../../dns/name.ts';
import { printWithoutDot } from '../name-text.ts';

/** By the ICANN part of the list. Of names that the list does not know, those of one label are. */
export function isPublicSuffix(name: Name): boolean {
  if (name === ROOT) return false;
  if (parentOf(name) === ROOT) return true;
  const text = printWithoutDot(name);
  const { publicSuffix, isIcann } = parseSuffix(text, {
    allowPrivateDomains: false,
    validateHostname: false,
  });
  return isIcann === true && publicSuffix === text;
}

/** True if a name is registered below a public suffix of ICANN, or lies below such a name. */
export function isBelowPublicSuffix(name: Name): boolean {
  const { domain, isIcann } = parseSuffix(printWithoutDot(name), {
    allowPrivateDomains: false,
    validateHostname: false,
  });
  return isIcann === true && domain !== null;
}
