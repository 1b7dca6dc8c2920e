// Findings of a child check and the sentence for each code: what is wrong, and what the domain's owner must change or whom
// to ask.

import { type Name, printName } from '../../dns/name.ts';
import type { ChildCode, Place, Severity } from './child-codes.ts';

export interface ChildFinding {
  readonly code: ChildCode;
  readonly severity: Severity;
  readonly place: Place;
  readonly message: string;
  /** Nameservers that the sentence names, if any. */
  readonly names?: readonly Name[];
}

/** Values inserted into a sentence. */
interface Told {
  readonly names: readonly Name[];
  /** Addresses, numbers or sets, depending on the code. */
  readonly detail?: string;
}

const ASK = 'Ask the operator of your nameservers';
const SOON = 'Visitors may be unable to reach this domain until then.';

export const CHILD_SENTENCES: Readonly<Record<ChildCode, (told: Told) => string>> = {
  TOO_FEW_NAMES: ({ names }) =>
    `This domain has only one nameserver, ${list(names)}. If it fails, the domain is unreachable. At your registrar, set at least two.`,
  IPV4_ONLY: () =>
    'None of the nameservers of this domain can be reached over IPv6. At your registrar, set nameservers that also have IPv6 addresses, or ask the operator of yours to add them.',
  IPV6_ONLY: () =>
    'None of the nameservers of this domain can be reached over IPv4, so most visitors cannot find it. At your registrar, set nameservers that also have IPv4 addresses.',
  SAME_ADDRESS: ({ names, detail }) =>
    `The nameservers ${list(names)} share the address ${detail}, so they fail together. At your registrar, set nameservers with different addresses.`,
  REFERRAL_OVER_512: ({ detail }) =>
    `The list of nameservers of this domain takes up to ${detail} octets. Above 512 octets, old resolvers must repeat the query over TCP. If that matters to you, set fewer or shorter nameserver names at your registrar.`,
  REFERRAL_OVER_1232: ({ detail }) =>
    `The list of nameservers of this domain takes up to ${detail} octets, more than the 1232 that reliably fit into one packet. At your registrar, set fewer nameservers, or nameservers with shorter names.`,
  NAME_IS_ALIAS: ({ names }) =>
    `${nameservers(names)} ${are(names)} an alias (CNAME), which is not allowed for a nameserver. At your registrar, set the name that the alias points to instead.`,
  NS_ONLY_AT_PARENT: ({ names }) =>
    `Your registrar lists ${list(names)}, but the zone of this domain does not. At your registrar, remove ${it(names)}, or add NS records for ${it(names)} to the zone.`,
  NS_ONLY_IN_ZONE: ({ names }) =>
    `The zone of this domain lists ${list(names)}, but your registrar does not. At your registrar, add ${it(names)}, or remove the NS records from the zone.`,
  GLUE_MISSING: ({ names }) =>
    `${nameservers(names)} ${are(names)} inside this domain, and the registry has no address for ${it(names)}, so resolvers cannot find ${it(names)}. At your registrar, enter the IP addresses next to the name (glue, "host record").`,
  GLUE_DIFFERS: ({ names, detail }) =>
    `The registry and the zone have different addresses for ${list(names)}: ${detail}. At your registrar, correct the IP addresses of the name (glue, "host record").`,
  NS_WITHOUT_ADDRESS: ({ names }) =>
    `${nameservers(names)} ${have(names)} no address, so resolvers cannot query ${it(names)}. Correct the name at your registrar, or add A and AAAA records for it.`,
  PRIVATE_ADDRESS: ({ names, detail }) =>
    `${nameservers(names)} ${have(names)} the address ${detail}, which cannot be reached from the internet. Enter a public address at your registrar and in the zone.`,
  SERVER_SILENT: ({ names, detail }) =>
    `${nameservers(names)} ${do_(names)} not answer at ${detail}. Remove ${it(names)} at your registrar, or have the fault repaired. ${SOON}`,
  SERVER_LAME: ({ names, detail }) =>
    `${nameservers(names)} ${do_(names)} not serve this domain (${detail}). Remove ${it(names)} at your registrar, or have the domain set up there. ${SOON}`,
  ALL_IN_ONE_PREFIX: ({ detail }) =>
    `All nameservers of this domain are in one network (${detail}), so a single fault can make all of them unreachable. At your registrar, set nameservers in different networks.`,
  ALL_IN_ONE_AS: ({ detail }) =>
    `All nameservers of this domain belong to one network operator (AS ${detail}), so a single fault can make all of them unreachable. At your registrar, add a nameserver in another operator's network.`,
  NS_SETS_DIFFER: ({ names }) =>
    `The nameservers ${list(names)} return different lists of this domain's nameservers. ${ASK} to serve the same zone on all of them.`,
  SERIALS_DIFFER: ({ names, detail }) =>
    `The nameservers ${list(names)} have different versions of this domain (serials ${detail}), so some visitors see outdated data. ${ASK} to repair the zone transfer.`,
  SOA_REFRESH_LOW: ({ detail }) =>
    `The SOA refresh of this domain is ${detail} s; at least 14400 s (4 h) is usual. ${ASK} to raise it.`,
  SOA_RETRY_NOT_BELOW_REFRESH: ({ detail }) =>
    `The SOA retry of this domain is not below its refresh (${detail} s). ${ASK} to lower the retry.`,
  SOA_RETRY_LOW: ({ detail }) =>
    `The SOA retry of this domain is ${detail} s; at least 3600 s (1 h) is usual. ${ASK} to raise it.`,
  SOA_EXPIRE_LOW: ({ detail }) =>
    `The SOA expire of this domain is ${detail} s; it must be at least 604800 s (7 days) and not below the refresh. Otherwise the domain disappears if the primary server fails for longer. ${ASK} to raise it.`,
  SOA_MINIMUM_OUT_OF_RANGE: ({ detail }) =>
    `The SOA minimum of this domain is ${detail} s; 300 s to 86400 s is usual. It determines how long resolvers remember that a name does not exist. ${ASK} to change it.`,
  TCP_REFUSED: ({ names, detail }) =>
    `${nameservers(names)} ${do_(names)} not answer over TCP at ${detail}, so large answers are lost. ${ASK} to open TCP port 53.`,
  EDNS_BROKEN: ({ names, detail }) =>
    `${nameservers(names)} ${do_(names)} not handle EDNS at ${detail}, which nearly every resolver uses, so answers are slow or lost. ${ASK} to update the server or the firewall in front of it.`,
  UDP_TCP_DIFFER: ({ names, detail }) =>
    `${nameservers(names)} ${do_(names)} not give the same answers over UDP and TCP at ${detail}. ${ASK} to correct this.`,
  CHILD_CHECK_CUT_SHORT: () =>
    'The check is incomplete because this domain has too many nameservers, or because they answer too slowly. You do not need to change anything.',
  OUR_SERVERS_UNREACHABLE: ({ names, detail }) =>
    `Our nameservers ${list(names)} do not answer this worker at ${detail}. Check the nodes, and the firewalls between them and the workers.`,
};

function nameservers(names: readonly Name[]): string {
  return `${names.length === 1 ? 'The nameserver' : 'The nameservers'} ${list(names)}`;
}

const are = (names: readonly Name[]) => (names.length === 1 ? 'is' : 'are');
const have = (names: readonly Name[]) => (names.length === 1 ? 'has' : 'have');
const do_ = (names: readonly Name[]) => (names.length === 1 ? 'does' : 'do');
const it = (names: readonly Name[]) => (names.length === 1 ? 'it' : 'them');

/** Formats `a`, `a and b`, `a, b and c`. */
function list(names: readonly Name[]): string {
  const printed = names.map((name) => printName(name).replace(/(?<=.)\.$/, ''));
  const last = printed.pop() ?? '';
  return printed.length === 0 ? last : `${printed.join(', ')} and ${last}`;
}
