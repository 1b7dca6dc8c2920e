// Defines which kinds of metadata clients may read and write, and converts some of them to and from secondaries.

import { Problem } from '../../api/answers/problem.ts';
import { DNS_PORT } from '../../process/listen-address.ts';
import type { StoredSecondary } from '../../store/transfers/peers.ts';
import { readNetwork, readServer } from '../transfers/rules.ts';
import { NewSecondaries } from '../transfers/schema.ts';
import { printMaster } from './print.ts';
import { refuse } from './rules.ts';

/** Kinds that describe the domain's secondaries. */
export const OF_SECONDARIES = ['ALLOW-AXFR-FROM', 'ALSO-NOTIFY', 'TSIG-ALLOW-AXFR'] as const;
export type SecondaryKind = (typeof OF_SECONDARIES)[number];

/** Matches kinds that are stored without effect. */
const STORED = /^(SOA-EDIT|SOA-EDIT-API|SOA-EDIT-DNSUPDATE|API-RECTIFY|X-[A-Z0-9-]{1,60})$/;

/** Other kinds of PowerDNS, which are always empty here. */
const WITHOUT_EQUIVALENT = [
  'ALLOW-DNSUPDATE-FROM',
  'AXFR-SOURCE',
  'ENABLE-LUA-RECORDS',
  'FORWARD-DNSUPDATE',
  'GSS-ACCEPTOR-PRINCIPAL',
  'GSS-ALLOW-AXFR-PRINCIPAL',
  'IXFR',
  'LUA-AXFR-SCRIPT',
  'NOTIFY-DNSUPDATE',
  'NSEC3NARROW',
  'NSEC3PARAM',
  'PRESIGNED',
  'PUBLISH-CDNSKEY',
  'PUBLISH-CDS',
  'SLAVE-RENOTIFY',
];

type MetadataKind = 'secondaries' | 'primaries' | 'grants' | 'stored' | 'none';

/** Returns what the kind describes. Returns undefined if PowerDNS does not have the kind. */
export function metadataKind(kind: string): MetadataKind | undefined {
  if (isOfSecondaries(kind)) return 'secondaries';
  if (kind === 'AXFR-MASTER-TSIG') return 'primaries';
  if (kind === 'TSIG-ALLOW-DNSUPDATE') return 'grants';
  if (STORED.test(kind)) return 'stored';
  return WITHOUT_EQUIVALENT.includes(kind) ? 'none' : undefined;
}

export function isOfSecondaries(kind: string): kind is SecondaryKind {
  return OF_SECONDARIES.some((each) => each === kind);
}

/** Returns the values that describe the secondaries, without duplicates. */
export function valuesOf(kind: SecondaryKind, secondaries: readonly StoredSecondary[]): string[] {
  const values = secondaries.flatMap((secondary) => valuesOfOne(kind, secondary));
  return [...new Set(values)];
}

function valuesOfOne(kind: SecondaryKind, secondary: StoredSecondary): readonly string[] {
  const { addresses, port, networks, keyName, transfers, notified } = secondary;
  if (kind === 'ALSO-NOTIFY')
    return notified ? addresses.map((address) => printMaster({ address, port })) : [];
  if (!transfers) return [];
  if (kind === 'TSIG-ALLOW-AXFR') return keyName === null ? [] : [keyName];
  return keyName === null ? networks : [];
}

type WantedSecondary = Pick<
  StoredSecondary,
  'addresses' | 'port' | 'networks' | 'keyId' | 'transfers' | 'notified'
>;

/** Maximum number of networks of a secondary. */
const MAX_NETWORKS = 4;

/**
 * Returns the secondaries after a kind is set to these values. A secondary does not change if all of its values remain.
 * For TSIG-ALLOW-AXFR, `keyIds` are the ids of the values.
 */
export function withValues(
  secondaries: readonly StoredSecondary[],
  kind: SecondaryKind,
  values: readonly string[],
  keyIds: readonly number[] = [],
): readonly WantedSecondary[] | Problem {
  const wanted = new Map<string, WantedSecondary>();
  for (const [i, value] of values.entries()) {
    const read = readValue(kind, value, keyIds[i]);
    if (read instanceof Problem) return read;
    wanted.set(...read);
  }
  const kept = secondaries.flatMap((secondary): WantedSecondary[] => {
    const own = valuesOfOne(kind, secondary);
    if (own.length === 0) return [secondary];
    if (own.every((value) => wanted.has(value))) {
      for (const value of own) wanted.delete(value);
      return [secondary];
    }
    return withoutPart(kind, secondary);
  });
  return judgeAll([...kept, ...joinNetworks([...wanted.values()])]);
}

const NONE = { addresses: [], port: DNS_PORT, networks: [], keyId: null, transfers: false, notified: false };

/** Returns the value in the form that `valuesOf` returns, and a secondary with only this value. */
function readValue(
  kind: SecondaryKind,
  value: string,
  keyId = 0,
): [value: string, secondary: WantedSecondary] | Problem {
  if (kind === 'TSIG-ALLOW-AXFR')
    return [value.toLowerCase().replace(/\.?$/, '.'), { ...NONE, keyId, transfers: true }];
  if (kind === 'ALSO-NOTIFY') {
    const server = readServer(value);
    if (server === undefined) return refuse(`${kind}: "${value.slice(0, 100)}" is not an address`);
    const { address, port } = server;
    return [printMaster(server), { ...NONE, addresses: [address], port, notified: true }];
  }
  const network = readNetwork(value);
  if (network !== undefined) return [network, { ...NONE, networks: [network], transfers: true }];
  if (value.toUpperCase() === 'AUTO-NS')
    return refuse(`${kind}: AUTO-NS has no equivalent here: list the networks`);
  return refuse(`${kind}: "${value.slice(0, 100)}" is not a network`);
}

/** Joins secondaries that have one network each. */
function joinNetworks(secondaries: readonly WantedSecondary[]): readonly WantedSecondary[] {
  const networks = secondaries.flatMap((each) => each.networks);
  if (networks.length === 0) return secondaries;
  const count = Math.ceil(networks.length / MAX_NETWORKS);
  return Array.from({ length: count }, (_, i) => ({
    ...{ ...NONE, transfers: true },
    networks: networks.slice(i * MAX_NETWORKS, (i + 1) * MAX_NETWORKS),
  }));
}

/** Removes the part that the kind describes. Returns an empty list if the secondary would have no effect. */
function withoutPart(kind: SecondaryKind, secondary: StoredSecondary): WantedSecondary[] {
  const isNotify = kind === 'ALSO-NOTIFY';
  const rest: WantedSecondary = isNotify
    ? { ...secondary, notified: false, addresses: [] }
    : { ...secondary, transfers: false, networks: [] };
  return rest.transfers || rest.notified ? [rest] : [];
}

/** Returns the secondaries, or a problem if the API would refuse them. */
function judgeAll(secondaries: readonly WantedSecondary[]): readonly WantedSecondary[] | Problem {
  const judged = NewSecondaries.safeParse({
    secondaries: secondaries.map(({ addresses, port, networks, keyId, transfers, notified }) => ({
      ...{ addresses, port, networks, tsig_key: keyId, transfer: transfers, notify: notified },
    })),
  });
  if (judged.success) return secondaries;
  const [issue] = judged.error.issues;
  return refuse(issue?.message ?? 'the values are not valid');
}
