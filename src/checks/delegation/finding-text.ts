// How names and what servers say are printed in the sentences of findings.

import { type Name, printName } from '../../dns/name.ts';
import type { Seen } from './seen.ts';

/** What some servers of the parent say, where others say something else. */
export interface Said {
  readonly by: readonly Name[];
  readonly kind: 'delegation' | 'nodata' | 'nxdomain' | 'alias';
  /** For `delegation`. */
  readonly ns: readonly Name[];
}

/** How many names one part of a sentence lists: zone owners decide how many there are. */
const SHOWN_NAMES = 8;

export function saidText({ by, kind, ns }: Said): string {
  const who = someOf(by);
  const says = by.length === 1 ? 'says' : 'say';
  switch (kind) {
    case 'delegation':
      return `${who} ${by.length === 1 ? 'lists' : 'list'} ${someOf(ns)}`;
    case 'nodata':
      return `${who} ${says} that it has no nameservers`;
    case 'nxdomain':
      return `${who} ${says} that it does not exist`;
    case 'alias':
      return `${who} ${says} that it is an alias`;
    default:
      return kind satisfies never;
  }
}

/** Prints `ns1.a and ns2.a`, `no nameservers`. */
export function seenText({ kind, ns }: Seen): string {
  switch (kind) {
    case 'delegated':
      return someOf(ns);
    case 'not_delegated':
      return 'no nameservers';
    case 'unregistered':
      return 'no such domain';
    case 'alias':
      return 'an alias';
    case 'nothing':
      return 'nothing certain';
    case 'split':
      return 'different things';
    default:
      return kind satisfies never;
  }
}

function someOf(names: readonly Name[]): string {
  const more = names.length - SHOWN_NAMES;
  if (more <= 0) return list(names);
  return `${names.slice(0, SHOWN_NAMES).map(print).join(', ')} and ${more} more`;
}

/** Prints `nameserver a`, `nameservers a and b`. */
export function nameservers(names: readonly Name[]): string {
  return `${names.length === 1 ? 'nameserver' : 'nameservers'} ${list(names)}`;
}

/** Prints `a`, `a and b`, `a, b and c`. */
export function list(names: readonly Name[]): string {
  const printed = names.map(print);
  const last = printed.pop() ?? '';
  return printed.length === 0 ? last : `${printed.join(', ')} and ${last}`;
}

/** Prints a name without the final dot, as registrars show names. */
export function print(name: Name): string {
  const text = printName(name);
  return text === '.' ? '. (the root)' : text.slice(0, -1);
}
