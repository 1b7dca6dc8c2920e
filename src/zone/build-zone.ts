// Builds the immutable zone from its records, or says everything that is wrong with them. Bad records are never
// dropped silently: a zone is served as it was written or not at all.

import { WireError } from '../dns/errors.ts';
import { foldCase, isWildcard, isWithin, type Name, parentOf, printName } from '../dns/name.ts';
import { checkRdata } from '../dns/rdata.ts';
import { TYPE, typeMnemonic } from '../dns/type-codes.ts';
import { isMark, type RecordSet, type Zone, type ZoneNode, type ZoneRecord } from './zone.ts';

export type ZoneProblemCode =
  | 'NO_SOA'
  | 'MANY_SOA'
  | 'SOA_BELOW_APEX'
  | 'NO_APEX_NS'
  | 'OUT_OF_ZONE'
  | 'META_TYPE'
  | 'BAD_TTL'
  | 'BAD_RDATA'
  | 'DNSKEY_UNSUPPORTED'
  | 'CNAME_AND_OTHER'
  | 'MANY_CNAME'
  | 'DNAME_AND_CNAME'
  | 'MANY_DNAME'
  | 'DNAME_AND_NS'
  | 'BELOW_DNAME'
  | 'DS_AT_APEX'
  | 'NS_AT_WILDCARD'
  | 'SET_TOO_LARGE'
  | 'TOO_MANY_PROBLEMS';

export interface ZoneProblem {
  readonly code: ZoneProblemCode;
  readonly message: string;
  readonly owner?: Name;
  readonly type?: number;
}

export type BuiltZone =
  | { readonly kind: 'built'; readonly zone: Zone }
  | { readonly kind: 'refused'; readonly problems: readonly ZoneProblem[] };

const MAX_PROBLEMS = 1000;
const MAX_MESSAGE_OCTETS = 65535; // RFC 1035 §4.2.2
const MAX_TTL_SECONDS = 2 ** 31 - 1; // RFC 2181 §8
const NO_SETS: ReadonlyMap<number, RecordSet> = new Map();
const NO_MARKS: ReadonlySet<Name> = new Set();

type Report = (code: ZoneProblemCode, message: string, owner?: Name, type?: number) => void;

/** A record set while it grows. */
interface GrowingSet {
  readonly owner: Name;
  readonly type: number;
  ttl: number;
  readonly rdata: Uint8Array[];
}

interface GrowingNode {
  readonly name: Name;
  readonly sets: Map<number, GrowingSet>;
}

/** Owners must be folded. The order of the records decides nothing but the order of rdata within a set. */
export function buildZone(apex: Name, records: Iterable<ZoneRecord>): BuiltZone {
  const problems: ZoneProblem[] = [];
  const report: Report = (code, message, owner, type) => {
    if (problems.length < MAX_PROBLEMS) {
      problems.push({
        code,
        message,
        ...(owner === undefined ? {} : { owner }),
        ...(type === undefined ? {} : { type }),
      });
    } else if (problems.length === MAX_PROBLEMS) {
      problems.push({ code: 'TOO_MANY_PROBLEMS', message: `only the first ${MAX_PROBLEMS} are listed` });
    }
  };

  const nodes = new Map<Name, GrowingNode>();
  const keys: RdataKeys = new Map();
  const marked = new Set<Name>();
  let count = 0;
  for (const record of records) {
    if (!acceptRecord(apex, record, report)) continue;
    let node = nodes.get(record.owner);
    if (node === undefined) {
      node = { name: record.owner, sets: new Map() };
      nodes.set(record.owner, node);
    }
    if (isMark(record)) marked.add(record.owner);
    else if (addRecord(node, record, keys)) count++;
  }

  checkApex(apex, nodes.get(apex), report);
  for (const node of nodes.values()) checkNode(apex, node, nodes, report);
  const soa = nodes.get(apex)?.sets.get(TYPE.SOA);
  if (problems.length > 0 || soa === undefined) return { kind: 'refused', problems };

  addEmptyNonTerminals(apex, nodes);
  return { kind: 'built', zone: finishZone(apex, soa, nodes, marked, count) };
}

/** What can be said of one record alone. */
function acceptRecord(apex: Name, record: ZoneRecord, report: Report): boolean {
  const { owner, type, ttl, rdata } = record;
  if (!isWithin(owner, apex)) {
    report('OUT_OF_ZONE', `${printName(owner)} does not lie in the zone ${printName(apex)}`, owner, type);
    return false;
  }
  if (isMetaType(type) && !(isMark(record) && rdata.length === 0)) {
    report('META_TYPE', `${describe(owner, type)}: this type exists in messages only`, owner, type);
    return false;
  }
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > MAX_TTL_SECONDS) {
    report('BAD_TTL', `${describe(owner, type)}: the TTL ${ttl} is not 0 to ${MAX_TTL_SECONDS}`, owner, type);
    return false;
  }
  try {
    checkRdata(type, rdata);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    report('BAD_RDATA', `${describe(owner, type)}: ${error.message}`, owner, type);
    return false;
  }
  return true;
}

/** Types that no record of a zone has: 0, OPT, and the question and meta types 128 to 255 (RFC 6895 §3.1). */
function isMetaType(type: number): boolean {
  return type === 0 || type === TYPE.OPT || (type >= 128 && type <= 255);
}

/** What the sets of more than one rdata hold, to find duplicates. Most sets have one and no entry here. */
type RdataKeys = Map<GrowingSet, Set<string>>;

/** False when the set has that rdata already: it is dropped (RFC 2181 §5). */
function addRecord(node: GrowingNode, { owner, type, ttl, rdata }: ZoneRecord, keys: RdataKeys): boolean {
  const set = node.sets.get(type);
  if (set === undefined) {
    node.sets.set(type, { owner, type, ttl, rdata: [rdata] });
    return true;
  }
  if (ttl < set.ttl) set.ttl = ttl; // RFC 2181 §5.2: as if all had the lowest
  let held = keys.get(set);
  if (held === undefined) {
    held = new Set([sameRdataKey(type, set.rdata[0] as Uint8Array)]);
    keys.set(set, held);
  }
  const key = sameRdataKey(type, rdata);
  if (held.has(key)) return false;
  held.add(key);
  set.rdata.push(rdata);
  return true;
}

/** Types whose rdata is names from this offset on: they are the same in any case (RFC 4034 §6.2). */
const NAMES_FROM: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.CNAME, 0],
  [TYPE.PTR, 0],
  [TYPE.DNAME, 0],
  [TYPE.RP, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
]);

function sameRdataKey(type: number, rdata: Uint8Array): string {
  const text = Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength).toString('latin1');
  const names = NAMES_FROM.get(type);
  return names === undefined ? text : text.slice(0, names) + foldCase(text.slice(names) as Name);
}

function checkApex(apex: Name, node: GrowingNode | undefined, report: Report): void {
  const soa = node?.sets.get(TYPE.SOA);
  if (soa === undefined) report('NO_SOA', `${printName(apex)} has no SOA`, apex, TYPE.SOA);
  else if (soa.rdata.length > 1) {
    report('MANY_SOA', `${printName(apex)} has ${soa.rdata.length} SOA records, not one`, apex, TYPE.SOA);
  }
  if (!node?.sets.has(TYPE.NS)) report('NO_APEX_NS', `${printName(apex)} has no NS`, apex, TYPE.NS);
  if (node?.sets.has(TYPE.DNSKEY)) {
    const why = 'signed zones are not supported yet; load the zone without its DNSSEC records';
    report('DNSKEY_UNSUPPORTED', `${printName(apex)} has a DNSKEY: ${why}`, apex, TYPE.DNSKEY);
  }
  if (node?.sets.has(TYPE.DS)) {
    report('DS_AT_APEX', `${printName(apex)} has a DS: it belongs to the parent zone`, apex, TYPE.DS); // RFC 4035 §2.4
  }
}

/** What the sets of one name, and the names above it, say about each other. */
function checkNode(
  apex: Name,
  { name, sets }: GrowingNode,
  nodes: ReadonlyMap<Name, GrowingNode>,
  report: Report,
): void {
  if (name !== apex) {
    if (sets.has(TYPE.SOA)) {
      report('SOA_BELOW_APEX', `${printName(name)} has a SOA but is not the apex`, name, TYPE.SOA);
    }
    if (sets.has(TYPE.NS)) checkCut(name, sets, report);
    const above = dnameAbove(apex, name, nodes);
    if (above !== undefined) {
      report('BELOW_DNAME', `${printName(name)} lies below the DNAME at ${printName(above)}`, name); // RFC 6672 §2.4
    }
  }
  for (const set of sets.values()) {
    if (smallestAnswerOctets(set) > MAX_MESSAGE_OCTETS) {
      report('SET_TOO_LARGE', `${describe(name, set.type)}: the set fits in no message`, name, set.type);
    }
  }
  if (sets.has(TYPE.CNAME)) checkAlias(name, sets, report);
  const dname = sets.get(TYPE.DNAME);
  if (dname !== undefined && dname.rdata.length > 1) {
    report('MANY_DNAME', `${printName(name)} has more than one DNAME`, name, TYPE.DNAME); // RFC 6672 §2.4
  }
}

/** Of an answer with an OPT record and nothing else that can be left out; each owner a pointer to the question. */
function smallestAnswerOctets({ owner, rdata }: GrowingSet): number {
  const OPT_OCTETS = 11;
  let octets = 12 + (isWildcard(owner) ? 255 : owner.length) + 4 + OPT_OCTETS;
  for (const one of rdata) octets += 2 + 10 + one.length;
  return octets;
}

function checkCut(name: Name, sets: ReadonlyMap<number, GrowingSet>, report: Report): void {
  if (isWildcard(name)) {
    report('NS_AT_WILDCARD', `${printName(name)} has NS: a wildcard cannot be delegated`, name, TYPE.NS); // RFC 4592 §4.2
  }
  if (sets.has(TYPE.DNAME)) {
    report('DNAME_AND_NS', `${printName(name)} has both DNAME and NS`, name, TYPE.DNAME); // RFC 6672 §2.3
  }
}

function checkAlias(name: Name, sets: ReadonlyMap<number, GrowingSet>, report: Report): void {
  if ((sets.get(TYPE.CNAME)?.rdata.length ?? 0) > 1) {
    report('MANY_CNAME', `${printName(name)} has more than one CNAME`, name, TYPE.CNAME); // RFC 2181 §10.1
  }
  for (const type of sets.keys()) {
    if (type === TYPE.CNAME || type === TYPE.RRSIG || type === TYPE.NSEC) continue; // RFC 4034 §3, §4
    if (type === TYPE.DNAME) {
      report('DNAME_AND_CNAME', `${printName(name)} has both DNAME and CNAME`, name, type); // RFC 6672 §2.4
    } else {
      report('CNAME_AND_OTHER', `${printName(name)} has both CNAME and ${typeMnemonic(type)}`, name, type);
    }
  }
}

function dnameAbove(apex: Name, name: Name, nodes: ReadonlyMap<Name, GrowingNode>): Name | undefined {
  for (let above = name; above !== apex; ) {
    above = parentOf(above);
    if (nodes.get(above)?.sets.has(TYPE.DNAME)) return above;
  }
  return undefined;
}

/** RFC 4592 §2.2.2: a name exists when something lies below it. */
function addEmptyNonTerminals(apex: Name, nodes: Map<Name, GrowingNode | ZoneNode>): void {
  for (const owner of [...nodes.keys()]) {
    if (owner === apex) continue;
    for (let name = parentOf(owner); !nodes.has(name); name = parentOf(name)) {
      nodes.set(name, { name, sets: NO_SETS });
    }
  }
}

function finishZone(
  apex: Name,
  soa: GrowingSet,
  nodes: Map<Name, GrowingNode | ZoneNode>,
  marked: ReadonlySet<Name>,
  records: number,
): Zone {
  const timers = soa.rdata[0] as Uint8Array; // SERIAL REFRESH RETRY EXPIRE MINIMUM end the rdata (RFC 1035 §3.3.13)
  const view = new DataView(timers.buffer, timers.byteOffset + timers.byteLength - 20, 20);
  return {
    apex,
    soa,
    negativeTtl: Math.min(soa.ttl, view.getUint32(16)),
    serial: view.getUint32(0),
    nodes: nodes as ReadonlyMap<Name, ZoneNode>,
    marked: marked.size === 0 ? NO_MARKS : marked,
    records,
  };
}

function describe(owner: Name, type: number): string {
  return `${printName(owner)} ${typeMnemonic(type)}`;
}
