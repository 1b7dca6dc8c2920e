// The records that nameservers serve for a customer's records: for proxied ones, the edge's addresses instead of their
// content. All functions here depend only on the records at one name and on settings, so each name can be published
// separately.

import { encodeName, foldCase, type Name } from '../../dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';
import { printRdata } from '../../dns/record/rdata.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { DomainStatus, Served } from '../domain/domain-status.ts';
import type { EdgeAddresses, RecordValue } from '../records/customer-record.ts';
import { type ApiType, MAX_PROXIED_TTL_SECONDS, wireTypeCode } from '../records/customer-types.ts';
import { rdataKey, targetOf } from '../records/rdata-key.ts';
import { edgeMarkOf, isMark, markOf, unprovenMarkOf, type ZoneRecord } from '../zone.ts';

/**
 * Addresses as text, with their TTL: the last known ones of an unproxied ANAME's target or, until those are known, the
 * ones with which its name is served.
 */
export interface FlattenedTarget {
  readonly v4: readonly string[];
  readonly v6: readonly string[];
  readonly ttl: number;
}

/** Returns the target whose addresses are published for these records, all of one name. There is at most one ANAME. */
export function flattenedTarget(records: readonly RecordValue[]): Name | undefined {
  const aname = records.find(({ type, proxied }) => type === 'ANAME' && !proxied);
  return aname === undefined ? undefined : targetOf('ANAME', aname.rdata);
}

/**
 * Returns everything that is published for `records`, which are all records at one name, without duplicates (RFC 2181
 * §5). If they publish nothing (an ANAME without addresses yet, proxied ones without an edge), the name is marked: it
 * exists, so a wildcard does not match it (RFC 4592 §2.2.1).
 */
export function publishName(
  records: readonly RecordValue[],
  edges: EdgeAddresses,
  flattened?: FlattenedTarget,
): ZoneRecord[] {
  const published: ZoneRecord[] = [];
  const seen = new Set<string>();
  let proxiedTtl = MAX_PROXIED_TTL_SECONDS;
  let proxiedName: Name | undefined;
  for (const { name: owner, type, rdata, ttl, proxied } of records) {
    if (proxied) {
      proxiedName = owner;
      proxiedTtl = Math.min(proxiedTtl, ttl); // proxied records of several types become one set with one TTL
    } else if (type === 'ANAME') {
      if (flattened === undefined) continue;
      published.push(...addressRecords(owner, Math.min(ttl, flattened.ttl), flattened));
    } else {
      if (records.length > 1) {
        const key = `${type} ${rdataKey(type, rdata)}`;
        if (seen.has(key)) continue;
        seen.add(key);
      }
      published.push({ owner, type: wireTypeCode(type), ttl, rdata });
    }
  }
  if (proxiedName !== undefined) {
    const addresses = addressRecords(proxiedName, proxiedTtl, edges);
    published.push(...addresses);
    if (edges.regional && addresses.length > 0) published.push(edgeMarkOf(proxiedName));
  }
  const [first] = records;
  return published.length === 0 && first !== undefined ? [markOf(first.name)] : published;
}

function addressRecords(owner: Name, ttl: number, { v4, v6 }: EdgeAddresses): ZoneRecord[] {
  const records = [
    ...v4.map((text) => ({ owner, type: TYPE.A, ttl, rdata: parseIpv4(text) })),
    ...v6.map((text) => ({ owner, type: TYPE.AAAA, ttl, rdata: parseIpv6(text) })),
  ];
  const seen = new Set<string>();
  return records.filter(({ type, rdata }) => {
    const key = `${type} ${rdata.join('.')}`;
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  });
}

/** Returns the published content of one record as zone-file text. Addresses are joined by `, `. */
export function printDnsContent(
  record: { readonly type: ApiType; readonly rdata: Uint8Array; readonly proxied: boolean },
  edges: EdgeAddresses,
  flattened?: FlattenedTarget,
): string {
  const { type, rdata, proxied } = record;
  if (proxied) return [...edges.v4, ...edges.v6].join(', ');
  if (type === 'ANAME') return [...(flattened?.v4 ?? []), ...(flattened?.v6 ?? [])].join(', ');
  return printRdata(wireTypeCode(type), rdata);
}

// Timers that registries accept. MINIMUM bounds how long resolvers cache that a name does not exist.
const SOA_TTL_SECONDS = 3_600;
export const NS_TTL_SECONDS = 86_400;
const REFRESH_SECONDS = 10_000;
const RETRY_SECONDS = 2_400;
const EXPIRE_SECONDS = 604_800;
const MINIMUM_SECONDS = 1_800;

/** Returns the SOA and NS records that the service publishes at the apex. The first nameserver is MNAME. */
export function apexRecords(domain: {
  readonly apex: Name;
  readonly nameservers: readonly Name[];
  readonly serial: number;
  readonly rname: Name;
}): ZoneRecord[] {
  const { apex, nameservers, serial, rname } = domain;
  const [primary] = nameservers;
  if (primary === undefined) throw new RangeError('a domain needs nameservers');
  const timers = new DataView(new ArrayBuffer(20));
  const numbers = [serial, REFRESH_SECONDS, RETRY_SECONDS, EXPIRE_SECONDS, MINIMUM_SECONDS];
  for (const [i, number] of numbers.entries()) timers.setUint32(4 * i, number);
  const soa = Buffer.concat([encodeName(primary), encodeName(rname), new Uint8Array(timers.buffer)]);
  return [
    { owner: apex, type: TYPE.SOA, ttl: SOA_TTL_SECONDS, rdata: Uint8Array.from(soa) },
    ...nameservers.map((name) => ({
      owner: apex,
      type: TYPE.NS,
      ttl: NS_TTL_SECONDS,
      rdata: Uint8Array.from(encodeName(foldCase(name))),
    })),
  ];
}

/**
 * Returns the records published at the apex: the service's own and the owner's. If `served` is `apex`, adds a mark,
 * with which nodes only answer SOA and NS of the apex (docs/rules.md "What is answered"). Another mark states that a
 * zone is answered in full although its domain is pending. Otherwise no mark is needed, because an apex always exists.
 */
export function publishApex(
  own: readonly ZoneRecord[],
  owners: readonly ZoneRecord[],
  { served, status }: { readonly served: Served; readonly status: DomainStatus },
): ZoneRecord[] {
  const apex = (own[0] as ZoneRecord).owner;
  if (served === 'apex') return [...own, markOf(apex)];
  const marks = status === 'pending' ? [unprovenMarkOf(apex)] : [];
  return [...own, ...marks, ...owners.filter((record) => !isMark(record))];
}
