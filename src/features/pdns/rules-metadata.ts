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
  const wanted = new Set<string>();
  for (const value of values) {
    const read = readValue(kind, value);
    if (read instanceof Problem) return read;
    wanted.add(read);
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
  return judgeAll([...kept, ...added(kind, [...wanted], values, keyIds)]);
}

/** Returns the value in the form that `valuesOf` returns. */
function readValue(kind: SecondaryKind, value: string): string | Problem {
  const quoted = value.slice(0, 100);
  if (kind === 'TSIG-ALLOW-AXFR')
    return value.endsWith('.') ? value.toLowerCase() : `${value.toLowerCase()}.`;
  if (kind === 'ALSO-NOTIFY') {
    const server = readServer(value);
    return server === undefined ? refuse(`${kind}: "${quoted}" is not an address`) : printMaster(server);
  }
  const network = readNetwork(value);
  if (network !== undefined) return network;
  const isAuto = value.toUpperCase() === 'AUTO-NS';
  return refuse(
    isAuto
      ? `${kind}: AUTO-NS has no equivalent here: list the networks`
      : `${kind}: "${quoted}" is not a network`,
  );
}

/** Removes the part that the kind describes. Returns an empty list if the secondary would have no effect. */
function withoutPart(kind: SecondaryKind, secondary: StoredSecondary): WantedSecondary[] {
  const isNotify = kind === 'ALSO-NOTIFY';
  const rest: WantedSecondary = isNotify
    ? { ...secondary, notified: false, addresses: [] }
    : { ...secondary, transfers: false, networks: [] };
  return rest.transfers || rest.notified ? [rest] : [];
}

function added(
  kind: SecondaryKind,
  fresh: readonly string[],
  values: readonly string[],
  keyIds: readonly number[],
): WantedSecondary[] {
  const none = {
    addresses: [],
    port: DNS_PORT,
    networks: [],
    keyId: null,
    transfers: false,
    notified: false,
  };
  if (kind === 'ALSO-NOTIFY')
    return fresh.flatMap((value): WantedSecondary[] => {
      const server = readServer(value);
      return server === undefined
        ? []
        : [{ ...none, addresses: [server.address], port: server.port, notified: true }];
    });
  if (kind === 'TSIG-ALLOW-AXFR') {
    const names = values.map((value) => readValue(kind, value));
    return fresh.flatMap((value): WantedSecondary[] => {
      const keyId = keyIds[names.indexOf(value)];
      return keyId === undefined ? [] : [{ ...none, keyId, transfers: true }];
    });
  }
  const groups: WantedSecondary[] = [];
  for (let at = 0; at < fresh.length; at += MAX_NETWORKS)
    groups.push({ ...none, networks: fresh.slice(at, at + MAX_NETWORKS), transfers: true });
  return groups;
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
