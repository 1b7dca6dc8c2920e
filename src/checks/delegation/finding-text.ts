// Formats names and server answers for the sentences of findings.

import { type Name, printName } from '../../dns/name.ts';
import type { Seen } from './seen.ts';

/** An answer of some of the parent's servers, if they disagree. */
export interface Said {
  readonly by: readonly Name[];
  readonly kind: 'delegation' | 'nodata' | 'nxdomain' | 'alias';
  /** For `delegation`. */
  readonly ns: readonly Name[];
}

/**
 * Turn of this claim while several claims wait for a name: the apex shows its nameservers. Times are milliseconds since
 * 1970.
 */
export type NameserverTurn =
  | { readonly kind: 'now'; readonly from: number; readonly until: number }
  /** In line for a turn, or neither. */
  | { readonly kind: 'waits' | 'none' };

/** Another account's domain inside a claim, and the nameservers to which it is delegated today. */
export interface InnerDomain {
  readonly name: Name;
  readonly ns: readonly Name[];
}

/** Maximum number of names in one list of a sentence. Zone owners control how many there are. */
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

/** Formats for example `ns1.a and ns2.a` or `no nameservers`. */
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

const TURN_REASON =
  'Another account waits for this name too, so the two sets of nameservers are answered in turn, for registries that query a domain before they delegate it.';

export function turnText(turn: NameserverTurn): string {
  switch (turn.kind) {
    case 'now':
      return `Your nameservers are answered for this domain from ${clock(turn.from)} to ${clock(turn.until)} UTC. ${TURN_REASON} If that is too short, request another turn with “check now”.`;
    case 'waits':
      return `Your nameservers are in line to be answered for this domain. ${TURN_REASON} The time of your turn will be shown here.`;
    case 'none':
      return `${TURN_REASON} If your registry must see your nameservers first, request a turn with “check now”.`;
    default:
      return turn satisfies never;
  }
}

/** Formats for example `14:05`. */
function clock(at: number): string {
  return new Date(at).toISOString().slice(11, 16);
}

/** Maximum number of domains inside a claim that a finding lists. */
export const MOST_INNER = 8;

export function innerText(inner: readonly InnerDomain[]): string {
  const shown = inner.slice(0, MOST_INNER);
  const records = shown.map(({ name, ns }) =>
    ns.length === 0 ? print(name) : `${print(name)} NS ${list(ns)}`,
  );
  const more = inner.length > shown.length ? '; there are more' : '';
  return `Other accounts have names inside this domain that are answered here today. They stop being answered when this domain becomes active, unless its records delegate them. To keep them working, add these NS records here before you change the nameservers at your registrar: ${records.join('; ')}${more}.`;
}

function someOf(names: readonly Name[]): string {
  const more = names.length - SHOWN_NAMES;
  if (more <= 0) return list(names);
  return `${names.slice(0, SHOWN_NAMES).map(print).join(', ')} and ${more} more`;
}

/** Formats for example `nameserver a` or `nameservers a and b`. */
export function nameservers(names: readonly Name[]): string {
  return `${names.length === 1 ? 'nameserver' : 'nameservers'} ${list(names)}`;
}

/** Formats `a`, `a and b`, `a, b and c`. */
export function list(names: readonly Name[]): string {
  const printed = names.map(print);
  const last = printed.pop() ?? '';
  return printed.length === 0 ? last : `${printed.join(', ')} and ${last}`;
}

/** Formats a name without the trailing dot, as registrars show names. */
export function print(name: Name): string {
  const text = printName(name);
  return text === '.' ? '. (the root)' : text.slice(0, -1);
}
