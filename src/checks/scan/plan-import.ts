// Decides which records of a scan a domain gets, and which are omitted and why. Records that the domain already has are
// detected later, when they are written.

import { foldCase, isWithin, type Name, nameInRdata, parentOf, printName } from '../../dns/name.ts';
import { parseIpv4, parseIpv6 } from '../../dns/record/ip-address.ts';
import { rdataNames } from '../../dns/record/rdata.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { cdnOfAddress, cdnOfTarget } from './cdn-networks.ts';
import type { Scan, ScannedRecord } from './scan.ts';

interface ImportRules {
  /** The apex, folded. */
  readonly apex: Name;
  /** The service's own proxy addresses. */
  readonly edges: { readonly v4: readonly string[]; readonly v6: readonly string[] };
  /** Codes of the supported record types. */
  readonly types: ReadonlySet<number>;
}

interface PlannedRecord {
  readonly name: Name;
  readonly type: number;
  /** TTL in seconds, the same for all records of a set. */
  readonly ttl: number;
  readonly rdata: Uint8Array;
  /** Operator of the network that the record points to, if known. */
  readonly cdn?: string;
  /** Human-readable note. */
  readonly note?: string;
}

interface LeftRecord {
  readonly name: Name;
  readonly type: number;
  /** Human-readable reason. */
  readonly reason: string;
}

export interface PlannedImport {
  /** In the order of the scan. */
  readonly records: readonly PlannedRecord[];
  /** One entry per name, type and reason. */
  readonly left: readonly LeftRecord[];
}

const OF_DNSSEC: ReadonlySet<number> = new Set([
  TYPE.DS,
  TYPE.DNSKEY,
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.NSEC3,
  TYPE.NSEC3PARAM,
  TYPE.CDS,
  TYPE.CDNSKEY,
]);

/** Limits of TTLs in records that customers write (docs/rules.md "Records"). */
const MIN_TTL_SECONDS = 60;
const MAX_TTL_SECONDS = 86_400;

/** Names of zone cuts, each with its nameservers. */
type Cuts = ReadonlyMap<Name, ReadonlySet<Name>>;

interface Surroundings extends Omit<ImportRules, 'edges'> {
  readonly edges: ReadonlySet<string>;
  readonly cuts: Cuts;
  /** Names that have a CNAME. */
  readonly aliases: ReadonlySet<Name>;
}

export function planImport({ records }: Pick<Scan, 'records'>, rules: ImportRules): PlannedImport {
  const cuts = cutsIn(records, rules.apex);
  const aliases = new Set(records.filter(({ type }) => type === TYPE.CNAME).map(({ name }) => name));
  const edges = new Set([...rules.edges.v4.map(parseIpv4), ...rules.edges.v6.map(parseIpv6)].map(hexOf));
  const around: Surroundings = { ...rules, edges, cuts, aliases };
  const planned = new Map<string, PlannedRecord>();
  const left = new Map<string, LeftRecord>();
  const ttls = lowestTtls(records);
  for (const record of records) {
    const { name, type, rdata } = record;
    const reason = whyNot(record, around);
    if (reason !== undefined) {
      left.set(`${type} ${name} ${reason}`, { name, type, reason });
      continue;
    }
    const lowest = ttls.get(`${type} ${name}`) as number;
    const ttl = Math.min(MAX_TTL_SECONDS, Math.max(MIN_TTL_SECONDS, lowest));
    const key = type === TYPE.CNAME ? `${type} ${name}` : `${type} ${name} ${hexOf(rdata)}`;
    if (planned.has(key)) continue; // a name can have only one CNAME: keep the first
    planned.set(key, { name, type, ttl, rdata, ...flagged(type, rdata) });
  }
  return { records: [...planned.values()], left: [...left.values()] };
}

function whyNot({ name, type, rdata }: ScannedRecord, around: Surroundings): string | undefined {
  const { apex, cuts, aliases, edges, types } = around;
  if (!isWithin(name, apex)) return 'its name is not inside this domain';
  if (name === apex && (type === TYPE.SOA || type === TYPE.NS))
    return 'this service sets its own SOA and NS records for the domain itself';
  if (OF_DNSSEC.has(type)) return 'it belongs to the DNSSEC signatures of the previous DNS provider';
  if (!types.has(type)) return `records of type ${typeMnemonic(type)} are not supported`;
  if (name === apex && type === TYPE.CNAME)
    return 'the domain itself cannot have a CNAME record; use an ANAME record instead';
  if (type !== TYPE.CNAME && aliases.has(name) && name !== apex)
    return 'a name that has a CNAME record cannot have other records';
  const cut = cutAbove(name, apex, cuts);
  if (cut !== undefined && !isOfCut(name, type, cut, cuts)) {
    return `it is below ${printName(cut).slice(0, -1)}, which is delegated to other nameservers`;
  }
  if (isAddress(type) && edges.has(hexOf(rdata))) return "it is an address of this service's proxy";
  return undefined;
}

/**
 * True if the record is valid at or below a cut: only NS at the delegation, and only addresses of its nameservers (glue)
 * below it.
 */
function isOfCut(name: Name, type: number, cut: Name, cuts: Cuts): boolean {
  if (name === cut && type === TYPE.NS) return true;
  return isAddress(type) && (cuts.get(cut)?.has(name) ?? false);
}

/** Returns the topmost cut at or above the name. Cuts below it are ignored. */
function cutAbove(name: Name, apex: Name, cuts: Cuts): Name | undefined {
  let topmost: Name | undefined;
  for (let at = name; at.length > apex.length; at = parentOf(at)) if (cuts.has(at)) topmost = at;
  return topmost;
}

function cutsIn(records: readonly ScannedRecord[], apex: Name): Cuts {
  const cuts = new Map<Name, Set<Name>>();
  for (const { name, type, rdata } of records) {
    if (type !== TYPE.NS || name === apex) continue;
    const hosts = cuts.get(name) ?? new Set();
    for (const host of rdataNames(type, rdata)) hosts.add(foldCase(host));
    cuts.set(name, hosts);
  }
  return cuts;
}

/** Returns the lowest TTL of each set, since a set has one TTL (RFC 2181 §5.2). */
function lowestTtls(records: readonly ScannedRecord[]): ReadonlyMap<string, number> {
  const ttls = new Map<string, number>();
  for (const { name, type, ttl } of records) {
    const key = `${type} ${name}`;
    ttls.set(key, Math.min(ttls.get(key) ?? ttl, ttl));
  }
  return ttls;
}

function flagged(type: number, rdata: Uint8Array): Pick<PlannedRecord, 'cdn' | 'note'> {
  const cdn =
    type === TYPE.CNAME
      ? cdnOfTarget(foldCase(nameInRdata(rdata)))
      : isAddress(type)
        ? cdnOfAddress(rdata)
        : undefined;
  if (cdn === undefined) return {};
  const note =
    type === TYPE.CNAME
      ? `it points to ${cdn}`
      : `it is an address of ${cdn}, not of your own server behind it`;
  return { cdn, note };
}

function isAddress(type: number): boolean {
  return type === TYPE.A || type === TYPE.AAAA;
}

function hexOf(octets: Uint8Array): string {
  return Buffer.from(octets).toString('hex');
}
