// Converts endpoints of external-dns to records and back, and their changes to an edit. A change is the difference between
// the old and the new targets. It keeps other records of the set, such as an SPF record next to a TXT record of the registry.

import { type Name, ROOT } from '../../dns/name.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type Edit, NO_EDIT } from '../../zone/edit/edit.ts';
import { printWithoutDot, readFullName } from '../../zone/name-text.ts';
import { type CustomerRecord, setKey } from '../../zone/records/customer-record.ts';
import { isAddressLike, MAX_TTL_SECONDS, MIN_TTL_SECONDS } from '../../zone/records/customer-types.ts';
import { parseDestination, printDestination } from '../../zone/records/destination.ts';
import { groupBy } from '../../zone/records/group-by.ts';
import { rdataKey } from '../../zone/records/rdata-key.ts';
import { parseRecordName } from '../../zone/records/record-name.ts';
import type { Changes, Endpoint } from './schema.ts';

export const MEDIA_TYPE = 'application/external.dns.webhook+json;version=1';
/** Set by the annotation `external-dns.alpha.kubernetes.io/webhook-zonefleet-proxied`. */
const PROXIED = 'webhook/zonefleet-proxied';

/** Record types that external-dns supports. */
export const ENDPOINT_TYPES = ['A', 'AAAA', 'CNAME', 'TXT', 'MX', 'SRV', 'NS', 'NAPTR', 'PTR'] as const;
type EndpointType = (typeof ENDPOINT_TYPES)[number];

const isEndpointType = (text: string): text is EndpointType => ENDPOINT_TYPES.includes(text as EndpointType);

/** A refused change, described by a sentence. */
export class Refused {
  readonly sentence: string;

  constructor({ dnsName, recordType }: Pick<Endpoint, 'dnsName' | 'recordType'>, why: string) {
    this.sentence = `${dnsName} ${recordType}: ${why}`;
  }
}

/** An endpoint in one of the four lists of a request. */
interface NamedEndpoint {
  readonly endpoint: Endpoint;
  readonly name: Name;
  readonly type: EndpointType;
  /** True if its targets are added to the set, false if they are removed. */
  readonly adds: boolean;
}

/** Reads all endpoints, removals first, so that a target that is removed and added is kept. */
export function readNames(changes: Changes): NamedEndpoint[] | Refused {
  const named: NamedEndpoint[] = [];
  for (const list of ['delete', 'updateOld', 'create', 'updateNew'] as const) {
    for (const endpoint of changes[list]) {
      const { dnsName, recordType: type, setIdentifier } = endpoint;
      if (setIdentifier) return new Refused(endpoint, 'a setIdentifier is not supported');
      if (!isEndpointType(type)) return new Refused(endpoint, 'the type is not supported');
      const read = readFullName(dnsName);
      if (read.kind === 'problem') return new Refused(endpoint, read.message);
      named.push({ endpoint, name: read.name, type, adds: list === 'create' || list === 'updateNew' });
    }
  }
  return named;
}

/**
 * Returns true for a TXT record in which external-dns stores that it owns another record. If that record is at the apex of
 * a domain, the TXT record may be outside of the domain: `a-shop.example` for `shop.example`. Providers skip it.
 */
export function isOwnership({ type, endpoint }: NamedEndpoint): boolean {
  return type === 'TXT' && endpoint.labels?.ownedRecord !== undefined;
}

/** The changes of one record set. */
export interface SetChange {
  readonly name: Name;
  readonly type: EndpointType;
  readonly label: Pick<Endpoint, 'dnsName' | 'recordType'>;
  readonly removed: Set<string>;
  readonly added: Map<string, Uint8Array>;
  ttl: number | undefined;
  proxied: boolean | undefined;
}

/** Returns the changes of the sets of one domain. */
export function readChanges(named: readonly NamedEndpoint[], apex: Name): SetChange[] | Refused {
  const sets = new Map<string, SetChange>();
  for (const { endpoint, name, type, adds } of named) {
    const inDomain = parseRecordName(`${printWithoutDot(name)}.`, apex);
    if (inDomain.kind === 'problem') return new Refused(endpoint, inDomain.message);
    const key = setKey(name, type);
    const set = sets.get(key) ?? {
      ...{ name, type, label: endpoint, removed: new Set<string>(), added: new Map<string, Uint8Array>() },
      ...{ ttl: undefined, proxied: undefined },
    };
    sets.set(key, set);
    const { targets } = endpoint;
    if (!targets?.length) return new Refused(endpoint, 'an endpoint requires targets');
    for (const target of targets) {
      const read = parseTarget(type, target);
      if (read.kind === 'problem') return new Refused(endpoint, read.message);
      const identity = rdataKey(type, read.rdata);
      if (adds) set.added.set(identity, read.rdata);
      else set.removed.add(identity);
    }
    if (!adds) continue;
    set.ttl = ttlOf(endpoint) ?? set.ttl;
    // The registry copies the properties of a record to its TXT records.
    const proxied = isAddressLike(type) ? proxiedText(endpoint) : undefined;
    if (proxied !== undefined && proxied !== 'true' && proxied !== 'false')
      return new Refused(endpoint, `${PROXIED}: expected "true" or "false"`);
    if (proxied !== undefined) set.proxied = proxied === 'true';
  }
  return [...sets.values()];
}

/** Returns the replacements of the sets, in their order. Existing records keep their settings. */
export function makeEdit(sets: readonly SetChange[], current: readonly CustomerRecord[]): Edit {
  const held = groupBy(current, ({ name, type }) => setKey(name, type));
  return {
    ...NO_EDIT,
    replaces: sets.map(({ name, type, removed, added, ttl, proxied }) => {
      const after = new Map(added);
      for (const { rdata } of held.get(setKey(name, type)) ?? []) {
        const identity = rdataKey(type, rdata);
        if (!removed.has(identity)) after.set(identity, rdata);
      }
      return {
        ...{ name, type },
        ...(ttl !== undefined && { ttl }),
        records: [...after.values()].map((rdata) => ({ rdata, ...(proxied !== undefined && { proxied }) })),
      };
    }),
  };
}

/** Returns undefined if the endpoint does not set a TTL. external-dns also means this by 0. */
function ttlOf({ recordTTL }: Endpoint): number | undefined {
  if (recordTTL === undefined || recordTTL === null || recordTTL <= 0) return undefined;
  return Math.min(Math.max(recordTTL, MIN_TTL_SECONDS), MAX_TTL_SECONDS);
}

function proxiedText({ providerSpecific }: Endpoint): string | undefined {
  return providerSpecific?.find(({ name }) => name === PROXIED)?.value ?? undefined;
}

type Target = { kind: 'rdata'; rdata: Uint8Array } | { kind: 'problem'; message: string };

/** Reads a target, whose host is absolute, so `@` is not valid. */
function parseTarget(type: EndpointType, text: string): Target {
  if (type === 'MX') {
    const [, priority, host] = /^\s*(\d{1,5})\s+(\S+)\s*$/.exec(text) ?? [];
    if (host === undefined || host === '@')
      return { kind: 'problem', message: `"${text}": expected a priority and a host` };
    return parseDestination(type, host, Number(priority), ROOT);
  }
  if (type !== 'TXT' && /(^|\s)@$/.test(text)) return { kind: 'problem', message: '"@" is not a host' };
  return parseDestination(type, text, undefined, ROOT);
}

/** Returns the target as external-dns writes it: TXT strings are quoted, and hosts of SRV end with a dot. */
function printTarget(type: EndpointType, rdata: Uint8Array): string {
  if (type === 'TXT' || type === 'SRV' || type === 'NAPTR') return printRdata(TYPE[type], rdata);
  const { destination, mxPriority } = printDestination(type, rdata);
  return mxPriority === undefined ? destination : `${mxPriority} ${destination}`;
}

/** Returns a record set as an endpoint. */
export function printEndpoint([first, ...more]: readonly [CustomerRecord, ...CustomerRecord[]]): object {
  const { name, ttl, proxied } = first;
  const type = first.type as EndpointType;
  return {
    dnsName: printWithoutDot(name),
    targets: [first, ...more].map(({ rdata }) => printTarget(type, rdata)),
    recordType: type,
    recordTTL: ttl,
    ...(isAddressLike(type) && { providerSpecific: [{ name: PROXIED, value: String(proxied) }] }),
  };
}

/**
 * Returns the endpoint as `printEndpoint` will print it, so that external-dns finds no difference later. Returns undefined
 * if its type is not supported. Invalid parts do not change here, and are refused when they are saved.
 */
export function adjustEndpoint(endpoint: Endpoint): Endpoint | undefined {
  const { recordTTL: _, providerSpecific: __, ...rest } = endpoint;
  const { dnsName, recordType: type, targets } = rest;
  if (!isEndpointType(type)) return undefined;
  const read = readFullName(dnsName);
  const ttl = ttlOf(endpoint);
  return {
    ...rest,
    dnsName: read.kind === 'name' ? printWithoutDot(read.name) : dnsName.toLowerCase(),
    ...(targets && { targets: targets.map((target) => adjustTarget(type, target)) }),
    ...(ttl !== undefined && { recordTTL: ttl }),
    ...(isAddressLike(type) && {
      providerSpecific: [{ name: PROXIED, value: proxiedText(endpoint) ?? 'false' }],
    }),
  };
}

function adjustTarget(type: EndpointType, text: string): string {
  const read = parseTarget(type, text);
  return read.kind === 'rdata' ? printTarget(type, read.rdata) : text;
}
