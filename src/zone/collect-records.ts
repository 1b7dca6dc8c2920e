// Groups records into the sets of each name. Records that cannot belong to this zone are reported and left out.

import { WireError } from '../dns/errors.ts';
import { foldCase, isWithin, type Name, printName } from '../dns/name.ts';
import { checkRdata } from '../dns/record/rdata.ts';
import { TYPE } from '../dns/type-codes.ts';
import { isMark, isUnprovenMark, type ZoneRecord } from './zone.ts';
import { describeSet, type ProblemList, type ZoneProblem } from './zone-problem.ts';

const MAX_TTL_SECONDS = 2 ** 31 - 1; // RFC 2181 §8

/** A mask that gives 0 once in 1024 records. */
const RECORDS_A_STEP = 1023;

/** A record set while it grows. */
interface GrowingSet {
  readonly owner: Name;
  readonly type: number;
  ttl: number;
  readonly rdata: Uint8Array[];
}

export interface CollectedNode {
  readonly name: Name;
  readonly sets: Map<number, GrowingSet>;
}

export interface CollectedRecords {
  readonly nodes: Map<Name, CollectedNode>;
  /** Names that exist even without records: each has a node. */
  readonly marked: ReadonlySet<Name>;
  /** There is a mark that says that nothing has proved the zone. */
  readonly unproven: boolean;
  /** How many records the sets have, without duplicates. */
  readonly count: number;
}

const NO_MARKS: ReadonlySet<Name> = new Set();

/** Owners must be folded. */
export function collectRecords(
  apex: Name,
  records: Iterable<ZoneRecord>,
  problems: ProblemList,
  onStep: () => void = () => undefined,
): CollectedRecords {
  const nodes = new Map<Name, CollectedNode>();
  const keys: RdataKeys = new Map();
  const marked = new Set<Name>();
  let unproven = false;
  let count = 0;
  let seen = 0;
  for (const record of records) {
    if ((++seen & RECORDS_A_STEP) === 0) onStep();
    if (!acceptRecord(apex, record, problems)) continue;
    let node = nodes.get(record.owner);
    if (node === undefined) {
      node = { name: record.owner, sets: new Map() };
      nodes.set(record.owner, node);
    }
    if (isUnprovenMark(record, apex)) unproven = true;
    else if (isMark(record)) marked.add(record.owner);
    else if (addRecord(node, record, keys)) count++;
  }
  return { nodes, marked: marked.size === 0 ? NO_MARKS : marked, unproven, count };
}

/** Checks one record alone. */
function acceptRecord(apex: Name, record: ZoneRecord, problems: ProblemList): boolean {
  const { owner, type, ttl, rdata } = record;
  if (!isWithin(owner, apex)) {
    const where = `does not lie in the zone ${printName(apex)}`;
    problems.report('OUT_OF_ZONE', `${printName(owner)} ${where}`, owner, type);
    return false;
  }
  const fault = faultOf(type, ttl, rdata);
  if (fault === undefined) return true;
  problems.report(fault.code, `${describeSet(owner, type)}: ${fault.message}`, owner, type);
  return false;
}

function faultOf(type: number, ttl: number, rdata: Uint8Array): ZoneProblem | undefined {
  const isMarking = isMark({ type }) && rdata.length === 0;
  if (isMetaType(type) && !isMarking)
    return { code: 'META_TYPE', message: 'this type exists in messages only' };
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > MAX_TTL_SECONDS) {
    return { code: 'BAD_TTL', message: `the TTL ${ttl} is not 0 to ${MAX_TTL_SECONDS}` };
  }
  try {
    checkRdata(type, rdata);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { code: 'BAD_RDATA', message: error.message };
  }
  return undefined;
}

/** Types that no record of a zone can have: 0, OPT, and the question and meta types 128 to 255 (RFC 6895 §3.1). */
function isMetaType(type: number): boolean {
  return type === 0 || type === TYPE.OPT || (type >= 128 && type <= 255);
}

/** The rdata of sets with more than one, to find duplicates. Most sets have one rdata and no entry here. */
type RdataKeys = Map<GrowingSet, Set<string>>;

/** False when the set has that rdata already: it is dropped (RFC 2181 §5). */
function addRecord(node: CollectedNode, { owner, type, ttl, rdata }: ZoneRecord, keys: RdataKeys): boolean {
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

/** Types whose rdata is names from this offset on: they are compared without case (RFC 4034 §6.2). */
const NAMES_FROM: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.CNAME, 0],
  [TYPE.PTR, 0],
  [TYPE.DNAME, 0],
  [TYPE.RP, 0],
  [TYPE.MX, 2],
  [TYPE.AFSDB, 2],
  [TYPE.SRV, 6],
]);

function sameRdataKey(type: number, rdata: Uint8Array): string {
  const text = Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength).toString('latin1');
  const names = NAMES_FROM.get(type);
  return names === undefined ? text : text.slice(0, names) + foldCase(text.slice(names) as Name);
}
