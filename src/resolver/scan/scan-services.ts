// The names with an underscore that a scan tries (RFC 8552, words/services.txt), and the types to query for them.

import { labelsOf, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { groupOf, readWordGroups } from './read-words.ts';

const GROUPS = readWordGroups('services', ['names']);

/** Names directly below a domain. Those without their own records show if there is any name below them (RFC 8020). */
export const SERVICE_NAMES = groupOf(GROUPS, 'domain').names;

/** Returns the verification names of an account that is often named like the domain. */
export function accountNames(brand: string): string[] {
  return [
    `_github-challenge-${brand}`,
    `_github-challenge-${brand}-org`,
    `_gh-${brand}-o`,
    `_github-pages-challenge-${brand}`,
  ];
}

/** The names below `_msdcs` that an Active Directory registers for its controllers. */
export const AD_SERVICES = groupOf(GROUPS, 'controllers').names;

const TCP_OF_HOST = groupOf(GROUPS, '_tcp of a host').names;
const BELOW: ReadonlyMap<string, readonly string[]> = new Map([
  ...['_tcp', '_udp', '_tls', '_sites'].map((label) => [label, groupOf(GROUPS, label).names] as const),
  ['_msdcs', [...AD_SERVICES, ...groupOf(GROUPS, '_msdcs').names]],
]);
const PROTOCOLS: ReadonlySet<string> = new Set(['_tcp', '_udp', '_tls']);

/** Returns the names below `_tcp` and similar labels, of a host or of a whole domain. */
export function servicesBelow(label: string, { isHost }: { readonly isHost: boolean }): readonly string[] {
  return isHost && label === '_tcp' ? TCP_OF_HOST : (BELOW.get(label) ?? []);
}

/** Names that are always queried: such a service may exist below a name that a server wrongly denies (RFC 8020 §2). */
export const SURE_SERVICES: readonly string[] = ['_autodiscover._tcp', '_sip._tls', '_sipfederationtls._tcp'];

export function isContainer(label: string): boolean {
  return label === '_domainkey' || BELOW.has(label);
}

export interface Wanted {
  /** Type of the first query, which shows if the name exists, which records it has, or where it leads. */
  readonly first: number;
  /** Further types that the name may have. */
  readonly further: readonly number[];
}

const HOST: Wanted = { first: TYPE.A, further: [TYPE.AAAA, TYPE.MX, TYPE.TXT, TYPE.HTTPS] };
const TEXT: Wanted = { first: TYPE.TXT, further: [] };
const SERVICE: Wanted = { first: TYPE.SRV, further: [] };
const COLLECTION: Wanted = { first: TYPE.SRV, further: [TYPE.TXT] }; // its path (RFC 6764 §4)
const REALM: Wanted = { first: TYPE.TXT, further: [TYPE.URI] };
const CERTIFICATE: Wanted = { first: TYPE.TLSA, further: [] }; // RFC 6698 §3
const POINTER: Wanted = { first: TYPE.PTR, further: [] };

/** Hosts with SSH logins: a zone that uses RFC 4255 at all uses it for these. */
const SHELLS =
  /^(ssh|sftp|shell|login|git|gitlab|gitea|bastion|jump|jumphost|vps|server|srv|host|node|box)-?[0-9]*$/;
const TELEPHONY = /^(sip|sips|voip|pbx|enum|tel|phone|ims|h323|voice)[0-9]*$/;

const REVERSE = /\.(in-addr|ip6)\.arpa$/;

export function isReverseZone(domain: Name): boolean {
  return REVERSE.test(`.${labelsOf(domain).join('.')}`);
}

/** Returns the types to query for a name, depending on its form. */
export function wantedAt(name: Name, { isReverse }: { readonly isReverse: boolean }): Wanted {
  if (isReverse) return POINTER;
  const labels = labelsOf(name);
  const [label = '', next = ''] = labels;
  if (labels.includes('_dns-sd')) return POINTER; // RFC 6763 §11
  if (!label.startsWith('_')) return next === '_domainkey' ? TEXT : hostWanted(label);
  if (/^_[0-9]+$/.test(label)) return CERTIFICATE;
  if (next === '_tls' && label === '_smtp') return TEXT;
  if (!PROTOCOLS.has(next)) return label === '_kerberos' ? REALM : TEXT;
  return /^_(cal|card)davs?$/.test(label) ? COLLECTION : SERVICE;
}

function hostWanted(label: string): Wanted {
  if (SHELLS.test(label)) return { ...HOST, further: [...HOST.further, TYPE.SSHFP] };
  if (TELEPHONY.test(label)) return { ...HOST, further: [...HOST.further, TYPE.NAPTR] };
  return HOST;
}
