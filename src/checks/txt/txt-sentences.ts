// The sentences that tell the owner of a domain the result of a verification, one for each result. Not public: they may
// change.

import { type Name, printName } from '../../dns/name.ts';
import type { WalkFailure } from '../delegation/evidence.ts';
import type { TxtDelegation, TxtLink, TxtServerEvidence } from './txt-evidence.ts';
import type { TxtServerJudgement } from './txt-judgement.ts';

type Servers = readonly TxtServerJudgement[];
type At = Pick<TxtServerJudgement, 'server' | 'address'>;

/** How many servers a sentence names. */
const MAX_NAMED = 3;

export const TXT_SENTENCES = {
  verified: (_host: Name, servers: Servers) => {
    const silent = servers.filter(({ outcome }) => outcome === 'error');
    if (silent.length === 0) return `${allOf(servers.length)} it.`;
    return `${progress(servers)}, and ${list(silent)} ${silent.length === 1 ? 'does' : 'do'} not answer.`;
  },
  partial: (_host: Name, servers: Servers) => {
    const without = servers.filter(({ outcome }) => outcome === 'absent' || outcome === 'other');
    return `${progress(servers)}: ${list(without)} ${without.length === 1 ? 'answers' : 'answer'} without it.`;
  },
  absent: (host: Name, servers: Servers) =>
    `${noneOf(servers.length)} it: there is no TXT record at ${print(host)}.`,
  other: (host: Name, servers: Servers) =>
    `${noneOf(servers.length)} it: what is at ${print(host)} is not the value, of which every letter and its case counts.`,
  wildcard: (host: Name) =>
    `Names beside ${print(host)} that nobody made answer the same, so that a wildcard may have made it too: the record must be at that very name, or the wildcard must go.`,
  unprobed: (host: Name) =>
    `The servers have it, but did not answer for other names beside ${print(host)}, so that it cannot be told from a wildcard yet.`,
  untrusted: (host: Name, server: Name) =>
    `${print(host)} leads to a zone on ${print(server)}, a name server of this service, where nobody has proved to have that zone: it must be active here first, or the name must lead elsewhere.`,
  delegations: ({ zone }: TxtDelegation) =>
    `The servers of the zone above ${print(zone)} do not name the same name servers for it, perhaps because a change is still on its way.`,
  links: ({ host, zone }: TxtLink, { server, address }: TxtServerEvidence) =>
    `The servers of ${print(zone)} do not agree on what is at ${print(host)}: ${at({ server, address })} says something else than others, perhaps because a change is still on its way.`,
  silent: ({ zone, servers }: TxtLink, responding: number) => {
    if (servers.length === 1) return `The one server address of ${print(zone)} gives no usable answer.`;
    const few = responding === 0 ? 'None' : `Only ${responding}`;
    return `${few} of the ${servers.length} server addresses of ${print(zone)} ${responding > 1 ? 'give' : 'gives'} a usable answer, and at least half of them must.`;
  },
  failure: (host: Name, { zone, reason, message }: WalkFailure) => {
    switch (reason) {
      case 'unreachable':
      case 'no_address':
        return ended(`${onTheWay(host, zone)} could not be asked: ${message}`);
      case 'lame':
        return ended(`${onTheWay(host, zone)} do not tell where it is: ${message}`);
      case 'limit':
        return ended(
          `The way to ${print(host)} takes more questions, aliases or time than a check may spend: ${message}`,
        );
      case 'loop':
        return ended(`The way to ${print(host)} leads to itself: ${message}`);
      default:
        return reason satisfies never;
    }
  },
};

function onTheWay(host: Name, zone: Name): string {
  return `The servers of the zone ${print(zone)}, on the way to ${print(host)},`;
}

/** Ends a sentence; a failure's text may end with a name and its dot. */
function ended(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

function allOf(count: number): string {
  return count === 1 ? 'The one server has' : `All ${count} servers have`;
}

function noneOf(count: number): string {
  return count === 1 ? 'The one server does not have' : `None of ${count} servers has`;
}

/** Prints `3 of 4 servers have it`. */
function progress(servers: Servers): string {
  const found = servers.filter(({ outcome }) => outcome === 'found').length;
  return `${found} of ${servers.length} servers ${found === 1 ? 'has' : 'have'} it`;
}

/** Prints `a`, `a and b`, `a, b, c and 4 more`. */
function list(servers: readonly At[]): string {
  const shown = servers.slice(0, MAX_NAMED).map(at);
  if (servers.length > MAX_NAMED) shown.push(`${servers.length - MAX_NAMED} more`);
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

function at({ server, address }: At): string {
  return address === '' ? `${print(server)} (no address)` : `${print(server)} (${address})`;
}

/** Prints a name without the final dot, as people write names. */
function print(name: Name): string {
  const text = printName(name);
  return text === '.' ? '. (the root)' : text.slice(0, -1);
}
