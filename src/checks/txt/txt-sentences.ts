// Sentences that tell a domain's owner the result of a verification and what to do next. They are not part of the public
// API.

import { type Name, printName } from '../../dns/name.ts';
import type { WalkFailure } from '../delegation/evidence.ts';
import type { TxtDelegation, TxtLink, TxtServerEvidence } from './txt-evidence.ts';
import type { TxtServerJudgement } from './txt-judgement.ts';

type Servers = readonly TxtServerJudgement[];
type At = Pick<TxtServerJudgement, 'server' | 'address'>;

/** Maximum number of servers listed in a sentence. */
const MAX_NAMED = 3;

const ASK_PROVIDER = 'Ask your DNS provider to repair the nameservers.';

export const TXT_SENTENCES = {
  verified: (_host: Name, servers: Servers) => {
    const silent = servers.filter(({ outcome }) => outcome === 'error');
    if (silent.length === 0) return `${allOf(servers.length)} the TXT record.`;
    return `${progress(servers)}, which is enough; ${list(silent)} ${silent.length === 1 ? 'does' : 'do'} not answer.`;
  },
  partial: (_host: Name, servers: Servers) => {
    const without = servers.filter(({ outcome }) => outcome === 'absent' || outcome === 'other');
    return `${progress(servers)}, but ${list(without)} ${without.length === 1 ? 'does' : 'do'} not. A new record takes some time to reach all nameservers. If this persists, contact your DNS provider.`;
  },
  absent: (host: Name, servers: Servers) =>
    `${noneOf(servers.length)} a TXT record at ${print(host)}. Add it where you manage the DNS of this domain. A new record takes a few minutes to appear.`,
  other: (host: Name, servers: Servers) =>
    `${noneOf(servers.length)} the right value at ${print(host)}. Copy the value exactly as shown, including upper and lower case.`,
  wildcard: (host: Name) =>
    `Other names next to ${print(host)} have the same answer, so it may come from a wildcard record (*). Create the TXT record at exactly that name, or remove the wildcard record.`,
  unprobed: (host: Name) =>
    `The nameservers have the TXT record, but did not answer for other names next to ${print(host)}, so a wildcard record (*) cannot be ruled out yet. You do not need to change anything; we check again automatically.`,
  untrusted: (host: Name, server: Name) =>
    `${print(host)} leads to a zone on ${print(server)}, a nameserver of this service, but no account has proved yet that it owns that zone. That zone must first become active here, or the name must point elsewhere.`,
  delegations: ({ zone }: TxtDelegation) =>
    `The nameservers of the parent zone of ${print(zone)} list different nameservers for it, possibly because a recent change has not reached all of them yet. We check again automatically.`,
  links: ({ host, zone }: TxtLink, { server, address }: TxtServerEvidence) =>
    `The nameservers of ${print(zone)} give different answers for ${print(host)}: ${at({ server, address })} differs from others, possibly because a recent change has not reached all of them yet. We check again automatically.`,
  silent: ({ zone, servers }: TxtLink, responding: number) => {
    if (servers.length === 1)
      return `The only nameserver address of ${print(zone)} gives no usable answer. ${ASK_PROVIDER}`;
    const few = responding === 0 ? 'None' : `Only ${responding}`;
    return `${few} of the ${servers.length} nameserver addresses of ${print(zone)} ${responding > 1 ? 'give' : 'gives'} a usable answer, but at least half of them must. ${ASK_PROVIDER}`;
  },
  failure: (host: Name, { zone, reason, message }: WalkFailure) => {
    switch (reason) {
      case 'unreachable':
      case 'no_address':
        return ended(`${onTheWay(host, zone)} could not be reached: ${message}`);
      case 'lame':
      case 'bogus':
        return ended(`${onTheWay(host, zone)} do not serve that zone: ${message}`);
      case 'limit':
      case 'validation_limit':
      case 'later':
        return ended(
          `Finding ${print(host)} takes more queries, aliases or time than a check may use: ${message}`,
        );
      case 'loop':
        return ended(`${print(host)} leads back to itself: ${message}`);
      default:
        return reason satisfies never;
    }
  },
};

function onTheWay(host: Name, zone: Name): string {
  return `The nameservers of the zone ${print(zone)}, which lead to ${print(host)},`;
}

/** Adds a final dot, unless the text of a failure already ends with one. */
function ended(sentence: string): string {
  return sentence.endsWith('.') ? sentence : `${sentence}.`;
}

function allOf(count: number): string {
  return count === 1 ? 'The only nameserver has' : `All ${count} nameservers have`;
}

function noneOf(count: number): string {
  return count === 1 ? 'The only nameserver does not have' : `None of ${count} nameservers has`;
}

/** Formats for example `3 of 4 nameservers have the TXT record`. */
function progress(servers: Servers): string {
  const found = servers.filter(({ outcome }) => outcome === 'found').length;
  return `${found} of ${servers.length} nameservers ${found === 1 ? 'has' : 'have'} the TXT record`;
}

/** Formats `a`, `a and b`, `a, b, c and 4 more`. */
function list(servers: readonly At[]): string {
  const shown = servers.slice(0, MAX_NAMED).map(at);
  if (servers.length > MAX_NAMED) shown.push(`${servers.length - MAX_NAMED} more`);
  const last = shown.pop() ?? '';
  return shown.length === 0 ? last : `${shown.join(', ')} and ${last}`;
}

function at({ server, address }: At): string {
  return address === '' ? `${print(server)} (no address)` : `${print(server)} (${address})`;
}

/** Formats a name without the trailing dot. */
function print(name: Name): string {
  const text = printName(name);
  return text === '.' ? '. (the root)' : text.slice(0, -1);
}
