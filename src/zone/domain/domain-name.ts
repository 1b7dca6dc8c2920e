// The name of a customer's domain: valid spellings, and names that no customer can have (docs/rules.md "Domain names").
// src/store checks whether another account already has the name.

import { parse as parseSuffix } from 'tldts';
import { toASCII, toUnicode } from 'tr46';
import { foldCase, isWithin, labelsOf, type Name, parseName } from '../../dns/name.ts';
import { printWithoutDot, readName } from '../name-text.ts';
import { challengeOf } from './challenge-name.ts';
import type { DnsMode } from './domain-status.ts';

type DomainName =
  | { readonly kind: 'name'; readonly name: Name; readonly unicode: string }
  | { readonly kind: 'problem'; readonly message: string };

type DomainNameCode = 'single_label' | 'public_suffix' | 'reserved' | 'not_a_hostname' | 'too_long';

const LABEL = /^_?[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;
const CLASSLESS_LABEL = /^[0-9]+[/-][0-9]+$/; // RFC 2317 §4
const REVERSE = [parseName('in-addr.arpa.'), parseName('ip6.arpa.')];
const MAX_CHARACTERS = 253; // 255 octets on the wire

/** Reads a name in any case, with or without the final dot, in Unicode or A-labels. `unicode` is for display. */
export function parseDomainName(text: string): DomainName {
  const problem = (message: string): DomainName => ({ kind: 'problem', message });
  if (text === '' || text === '.') return problem('a domain name is required');
  if (text.length > 4 * MAX_CHARACTERS)
    return problem(`the name is longer than ${MAX_CHARACTERS} characters`);
  if (text.includes('\\')) return problem('a domain name cannot contain escapes');
  // RFC 5891 §4.2.3.2 to §4.2.3.4 and the Bidi rule, which applies to all labels together
  const ascii = toASCII(text, { checkBidi: true, checkJoiners: true });
  if (ascii === null) return problem(`"${text}" is not a valid domain name`);
  const canonical = ascii.endsWith('.') ? ascii.slice(0, -1) : ascii;
  if (canonical.length > MAX_CHARACTERS)
    return problem(`the name is longer than ${MAX_CHARACTERS} characters`);
  const labels = canonical.split('.');
  const isReverse = canonical.endsWith('.in-addr.arpa');
  for (const label of labels) {
    if (label === '') return problem('the name has an empty label');
    if (label.length > 63) return problem(`"${label}" is longer than 63 characters`);
    if (isReverse && CLASSLESS_LABEL.test(label)) continue;
    if (!LABEL.test(label)) return problem(`"${label}" is not a label of a domain name`);
    // RFC 5891 §4.2.3.1: no hyphen at the start, at the end, or in the third and fourth position
    if (label.startsWith('xn--') && toUnicode(label, { checkHyphens: true }).error) {
      return problem(`"${label}" is not a valid internationalised label`);
    }
  }
  const read = readName(`${canonical}.`);
  if (read.kind === 'problem') return read;
  return { kind: 'name', name: foldCase(read.name), unicode: toUnicode(canonical).domain };
}

/** Names that the public root never delegates, or that refer to the local machine. */
const NEVER = ['localhost.', 'local.', 'invalid.', 'onion.', 'home.arpa.'].map((text) => parseName(text));
const RESERVED = ['test.', 'example.', 'example.com.', 'example.net.', 'example.org.', 'example.edu.'].map(
  (text) => parseName(text),
);

const MAX_OCTETS = 255;

/** Returns the reason why a domain cannot be in external mode, or undefined. */
export function judgeExternalName(name: Name): { code: 'too_long'; message: string } | undefined {
  if (challengeOf(name).length <= MAX_OCTETS) return undefined;
  return {
    code: 'too_long',
    message: 'the name is too long for external mode: there is no room for the name of its TXT record',
  };
}

/**
 * Returns the reason why no customer can have this name, or undefined. Reverse zones and names below unknown TLDs are allowed.
 */
export function judgeDomainName(
  name: Name,
  rules: { readonly allowReserved: boolean; readonly dnsMode: DnsMode },
): { code: DomainNameCode; message: string } | undefined {
  const text = printWithoutDot(name);
  const labels = labelsOf(name);
  if (labels.length < 2) return { code: 'single_label', message: `"${text}" is a single label` };
  const reserved = rules.allowReserved ? NEVER : [...NEVER, ...RESERVED];
  if (reserved.some((apex) => isWithin(name, apex))) {
    return { code: 'reserved', message: `"${text}" is reserved and cannot be delegated to us` };
  }
  if (REVERSE.every((apex) => !isWithin(name, apex))) {
    if (/^[0-9]+$/.test(labels.at(-1) as string)) {
      return {
        code: 'not_a_hostname',
        message: `"${text}" is not a domain name: no top-level domain is a number`,
      };
    }
    if (labels.slice(-2).some((label) => label.startsWith('_'))) {
      return { code: 'not_a_hostname', message: `"${text}" cannot be registered: it has an underscore` };
    }
  }
  if (isPublicSuffix(text)) {
    return { code: 'public_suffix', message: `"${text}" is a public suffix: names are registered below it` };
  }
  return rules.dnsMode === 'external' ? judgeExternalName(name) : undefined;
}

function isPublicSuffix(text: string): boolean {
  const found = parseSuffix(text, {
    allowIcannDomains: true,
    allowPrivateDomains: false,
    extractHostname: false,
    validateHostname: false,
    detectIp: false,
  });
  return found.publicSuffix === text && found.isIcann === true;
}
