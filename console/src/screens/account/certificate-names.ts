// The names in a certificate, and the restrictions of a key that may write only their challenges.

import { listed } from './key-wish.ts';

const CHALLENGE = '_acme-challenge.';

/** Parses the input. Names are in lowercase, without the final dot and without duplicates. */
export function certificateNames(text: string): string[] {
  const names = listed(text).map((name) => name.toLowerCase().replace(/\.$/, ''));
  return [
    ...new Set(names.map((name) => (name.startsWith(CHALLENGE) ? name.slice(CHALLENGE.length) : name))),
  ];
}

/** Returns the name of the records that prove control of a name and of its wildcard (RFC 8555 §8.4). */
export function challengeOf(name: string): string {
  return CHALLENGE + withoutWildcard(name);
}

interface Named {
  readonly name: string;
  readonly name_unicode: string;
}

/** Returns the domain that contains the name. The longest name takes precedence. */
export function domainOf<T extends Named>(name: string, domains: readonly T[]): T | undefined {
  for (const candidate of domainCandidates(name)) {
    const found = domains.find((each) => each.name === candidate || each.name_unicode === candidate);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Returns the name and its parents with at least two labels, longest first. */
export function domainCandidates(name: string): string[] {
  const labels = withoutWildcard(name).split('.');
  return labels.slice(0, -1).map((_, i) => labels.slice(i).join('.'));
}

function withoutWildcard(name: string): string {
  return name.replace(/^\*\./, '');
}
