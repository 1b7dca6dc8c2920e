// Groups records into the sets of each name. Records that cannot belong to this zone are reported and left out. Signatures
// and NSEC3 are kept apart: RRSIG records belong to the sets that they cover, and owners of NSEC3 are not names of the zone.

import { WireError } from '../dns/errors.ts';
import { foldCase, isWithin, type Name, printName } from '../dns/name.ts';
import { coveredType } from '../dns/record/covered-type.ts';
import { checkRdata } from '../dns/record/rdata.ts';
import { TYPE } from '../dns/type-codes.ts';
import {
  isExpiredMark,
  isMark,
  isPrivateMark,
  isUnprovenMark,
  type RecordSet,
  type ZoneRecord,
} from './zone.ts';
import { describeSet, type ProblemList, type ZoneProblem } from './zone-problem.ts';

const MAX_TTL_SECONDS = 2 ** 31 - 1; // RFC 2181 §8

/** Mask that is 0 for one in 1024 records. */
const RECORDS_A_STEP = 1023;

/** A record set under construction. */
interface GrowingSet {
  readonly owner: Name;
  readonly type: number;
  ttl: number;
  readonly rdata: Uint8Array[];
  signatures?: readonly Uint8Array[];
}

export interface CollectedNode {
  readonly name: Name;
  readonly sets: Map<number, GrowingSet>;
}

export interface CollectedRecords {
  readonly nodes: Map<Name, CollectedNode>;
  /** NSEC3 sets by owner, which is not a name of the zone (RFC 5155 §7.2.8). */
  readonly hashed: ReadonlyMap<Name, GrowingSet>;
  /** RRSIG by owner and type covered. `attachSignatures` attaches them to the sets. */
  readonly signatures: ReadonlyMap<Name, ReadonlyMap<number, RecordSet>>;
  /** Names that exist even without records: each has a node. */
  readonly marked: ReadonlySet<Name>;
  /** True if a mark states that the zone is unproven. */
  readonly unproven: boolean;
  /** True if a mark states that the zone has expired. */
  readonly expired: boolean;
  /** True if a mark states that only peers may read the zone. */
  readonly isPrivate: boolean;
  /** Number of records in the sets, without duplicates and signatures. */
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
  const collected = new RecordCollector(apex, problems);
  let seen = 0;
  // V8 compiles a long loop while it runs, but not the code after it. If that code read a property, each later call would
  // enter the compiled loop and leave it by deoptimization, which takes longer than an edit. So a method does the work.
  for (const record of records) {
    if ((++seen & RECORDS_A_STEP) === 0) onStep();
    collected.add(record);
  }
  return collected;
}

class RecordCollector implements CollectedRecords {
  readonly nodes = new Map<Name, CollectedNode>();
  readonly hashed = new Map<Name, GrowingSet>();
  readonly signatures: SignatureSets = new Map();
  unproven = false;
  expired = false;
  isPrivate = false;
  count = 0;
  readonly #apex: Name;
  readonly #problems: ProblemList;
  readonly #keys: RdataKeys = new Map();
  #marked: Set<Name> | undefined;

  constructor(apex: Name, problems: ProblemList) {
    this.#apex = apex;
    this.#problems = problems;
  }

  get marked(): ReadonlySet<Name> {
    return this.#marked ?? NO_MARKS;
  }

  add(record: ZoneRecord): void {
    if (!acceptRecord(this.#apex, record, this.#problems)) return;
    const { owner, type } = record;
    if (type === TYPE.RRSIG) addSignature(this.signatures, record, this.#keys);
    else if (type === TYPE.NSEC3) {
      if (addRecord(this.hashed, owner, record, this.#keys)) this.count++;
    } else {
      const { sets } = nodeAt(this.nodes, owner);
      if (isUnprovenMark(record, this.#apex)) this.unproven = true;
      else if (isExpiredMark(record, this.#apex)) this.expired = true;
      else if (isPrivateMark(record, this.#apex)) this.isPrivate = true;
      else if (isMark(record)) this.#mark(owner);
      else if (addRecord(sets, type, record, this.#keys)) this.count++;
    }
  }

  #mark(owner: Name): void {
    this.#marked ??= new Set();
    this.#marked.add(owner);
  }
}

function nodeAt(nodes: Map<Name, CollectedNode>, name: Name): CollectedNode {
  let node = nodes.get(name);
  if (node === undefined) {
    node = { name, sets: new Map() };
    nodes.set(name, node);
  }
  return node;
}

function acceptRecord(apex: Name, record: ZoneRecord, problems: ProblemList): boolean {
  const { owner, type, ttl, rdata } = record;
  if (!isWithin(owner, apex)) {
    const where = `is not in the zone ${printName(apex)}`;
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
    return { code: 'META_TYPE', message: 'this type only exists in messages' };
  if (!Number.isInteger(ttl) || ttl < 0 || ttl > MAX_TTL_SECONDS) {
    return { code: 'BAD_TTL', message: `the TTL ${ttl} is not from 0 to ${MAX_TTL_SECONDS}` };
  }
  try {
    checkRdata(type, rdata);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    return { code: 'BAD_RDATA', message: error.message };
  }
  return undefined;
}

/**
 * Returns true for types that no record of a zone can have: 0, OPT, and the query and meta types 128 to 255 (RFC 6895 §3.1).
 */
export function isMetaType(type: number): boolean {
  return type === 0 || type === TYPE.OPT || (type >= 128 && type <= 255);
}

/** The rdata of sets with more than one, used to find duplicates. Most sets have only one, and no entry here. */
type RdataKeys = Map<GrowingSet, Set<string>>;

/** Adds a record. Returns false for a duplicate, which is dropped (RFC 2181 §5). */
function addRecord<K>(sets: Map<K, GrowingSet>, at: K, record: ZoneRecord, keys: RdataKeys): boolean {
  const { owner, type, ttl, rdata } = record;
  const set = sets.get(at);
  if (set === undefined) {
    sets.set(at, { owner, type, ttl, rdata: [rdata] });
    return true;
  }
  if (ttl < set.ttl) set.ttl = ttl; // the lowest TTL is used for all (RFC 2181 §5.2)
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

type SignatureSets = Map<Name, Map<number, GrowingSet>>;

function addSignature(signatures: SignatureSets, record: ZoneRecord, keys: RdataKeys): void {
  let ofOwner = signatures.get(record.owner);
  if (ofOwner === undefined) {
    ofOwner = new Map();
    signatures.set(record.owner, ofOwner);
  }
  addRecord(ofOwner, coveredType(record.rdata), record, keys);
}

/** Offset of the names in the rdata, which ends with them. They are compared without regard to case (RFC 4034 §6.2). */
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
