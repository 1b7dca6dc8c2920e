// Whether a name is a public suffix, such as `com` or `co.uk`: a zone whose name servers no customer chooses.

import { parse as parseSuffix } from 'tldts';
import { type Name, ROOT } from '../../dns/name.ts';
import { printWithoutDot } from '../name-text.ts';

/** By the ICANN part of the list. A name that the list does not know is none. */
export function isPublicSuffix(name: Name): boolean {
  if (name === ROOT) return false;
  const text = printWithoutDot(name);
  const { publicSuffix, isIcann } = parseSuffix(text, {
    allowPrivateDomains: false,
    validateHostname: false,
  });
  return isIcann === true && publicSuffix === text;
}
