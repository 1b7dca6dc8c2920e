// Builds the immutable zone from its records, or reports all problems in them. Bad records are never dropped silently:
// a zone is served as written or not at all.

import { type Name, parentOf } from '../dns/name.ts';
import { TYPE } from '../dns/type-codes.ts';
import { attachSignatures } from './attach-signatures.ts';
import { checkApex, checkNode, checkSizes } from './check-node.ts';
import { type CollectedNode, collectRecords } from './collect-records.ts';
import { findDenials } from './find-denials.ts';
import type { RecordSet, Zone, ZoneNode, ZoneRecord } from './zone.ts';
import { ProblemList, type ZoneProblem } from './zone-problem.ts';

export type BuiltZone =
  /** `stray`: signatures without a set that they cover. They are left out, because no answer can contain them. */
  | { readonly kind: 'built'; readonly zone: Zone; readonly stray: readonly RecordSet[] }
  | { readonly kind: 'refused'; readonly problems: readonly ZoneProblem[] };

const NO_SETS: ReadonlyMap<number, RecordSet> = new Map();

/** Mask that is 0 for one in 1024 records or names. */
const ITEMS_A_STEP = 1023;

/**
 * Builds a zone. Owners must be folded. The order of the records only determines the order of rdata within a set.
 * `onStep` is called regularly, so that a watchdog sees progress in a very large zone.
 */
export function buildZone(
  apex: Name,
  records: Iterable<ZoneRecord>,
  onStep: () => void = () => undefined,
): BuiltZone {
  const problems = new ProblemList();
  const collected = collectRecords(apex, records, problems, onStep);
  const { nodes, hashed, marked, unproven, expired, isPrivate, count } = collected;
  const signatures = attachSignatures(collected);
  checkApex(apex, nodes.get(apex)?.sets, problems);
  const hasDname = (name: Name) => nodes.get(name)?.sets.has(TYPE.DNAME) === true;
  let checked = 0;
  for (const node of nodes.values()) {
    if ((++checked & ITEMS_A_STEP) === 0) onStep();
    checkNode(apex, node, hasDname, problems);
    checkSizes(node.name, node.sets.values(), problems);
  }
  for (const set of hashed.values()) checkSizes(set.owner, [set], problems);
  const soa = nodes.get(apex)?.sets.get(TYPE.SOA);
  if (problems.list.length > 0 || soa === undefined) return { kind: 'refused', problems: problems.list };

  addEmptyNonTerminals(apex, nodes);
  const denials = findDenials(apex, nodes, hashed.values());
  const counts = { records: count + signatures.count };
  return {
    kind: 'built',
    zone: {
      apex,
      soa,
      ...soaNumbers(soa),
      nodes,
      marked,
      unproven,
      expired,
      isPrivate,
      ...denials,
      ...counts,
    },
    stray: signatures.stray,
  };
}

/** Adds names that exist because of a name below them (RFC 4592 §2.2.2). */
function addEmptyNonTerminals(apex: Name, nodes: Map<Name, CollectedNode | ZoneNode>): void {
  for (const owner of [...nodes.keys()]) {
    if (owner === apex) continue;
    for (let name = parentOf(owner); !nodes.has(name); name = parentOf(name)) {
      nodes.set(name, { name, sets: NO_SETS });
    }
  }
}

/** Returns the serial of an SOA, and the TTL of negative answers. */
export function soaNumbers(soa: RecordSet): { serial: number; negativeTtl: number } {
  const timers = soa.rdata[0] as Uint8Array; // the rdata ends with SERIAL REFRESH RETRY EXPIRE MINIMUM (RFC 1035 §3.3.13)
  const view = new DataView(timers.buffer, timers.byteOffset + timers.byteLength - 20, 20);
  return { serial: view.getUint32(0), negativeTtl: Math.min(soa.ttl, view.getUint32(16)) };
}
