// Applies the differences of an incremental transfer to the record sets that they touch. Only these sets are loaded, so
// that one change of a large zone costs little.

import { canonicalRdata } from '../../dns/dnssec/canonical-rdata.ts';
import { type Name, printName } from '../../dns/name.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import type { ZoneRecord } from '../zone.ts';
import type { Difference } from './read-transfer.ts';

/** All records of one owner and type. RRSIG records of an owner are one set, whatever they cover. */
export interface TouchedSet {
  readonly owner: Name;
  readonly type: number;
  /** Empty if the set does not exist. */
  readonly records: readonly ZoneRecord[];
}

type AppliedDifferences =
  /** The new content of each touched set. */
  | { readonly kind: 'applied'; readonly sets: readonly TouchedSet[] }
  /** The differences do not begin at this copy: transfer the whole zone. */
  | { readonly kind: 'wrong_chain'; readonly message: string };

/** Returns the sets that the differences touch, each once. */
export function touchedSets(differences: readonly Difference[]): { owner: Name; type: number }[] {
  const touched = new Map<string, { owner: Name; type: number }>();
  for (const { removed, added } of differences) {
    for (const { owner, type } of [...removed, ...added])
      touched.set(keyOf({ owner, type }), { owner, type });
  }
  return [...touched.values()];
}

/**
 * Applies the differences in order. `stored` must contain all records of the sets that `touchedSets` returns; other
 * records are ignored.
 */
export function applyDifferences(
  stored: Iterable<ZoneRecord>,
  differences: readonly Difference[],
): AppliedDifferences {
  const touched = touchedSets(differences);
  const sets = new Map(touched.map((set) => [keyOf(set), new Map<string, ZoneRecord>()]));
  for (const record of stored) sets.get(keyOf(record))?.set(identityOf(record), record);
  for (const { serialAfter, removed, added } of differences) {
    const wrong = (record: ZoneRecord, what: string): AppliedDifferences => {
      const which = `${printName(record.owner)} ${typeMnemonic(record.type)}`;
      return { kind: 'wrong_chain', message: `the difference to serial ${serialAfter} ${what}: ${which}` };
    };
    for (const record of removed) {
      if (sets.get(keyOf(record))?.delete(identityOf(record)) !== true)
        return wrong(record, 'removes a missing record');
    }
    for (const record of added) {
      const set = sets.get(keyOf(record)) as Map<string, ZoneRecord>;
      const identity = identityOf(record);
      if (set.has(identity)) return wrong(record, 'adds an existing record');
      set.set(identity, record);
    }
  }
  return {
    kind: 'applied',
    sets: touched.map((set) => ({
      ...set,
      records: withOneTtl([...(sets.get(keyOf(set))?.values() ?? [])]),
    })),
  };
}

function keyOf({ owner, type }: Pick<ZoneRecord, 'owner' | 'type'>): string {
  return `${type} ${owner}`;
}

/**
 * Identifies a record within its set. Names are compared without regard to case, because servers that compress names
 * may change it. The TTL does not count: a set has one TTL, and the copy may have corrected it (RFC 2181 §5.2).
 */
function identityOf({ type, rdata }: ZoneRecord): string {
  return Buffer.from(canonicalRdata(type, rdata)).toString('latin1');
}

/** The lowest TTL is used for all records of a set, except of signatures, which have that of the set that they cover. */
function withOneTtl(records: readonly ZoneRecord[]): readonly ZoneRecord[] {
  const ttl = records.reduce((lowest, record) => Math.min(lowest, record.ttl), Number.POSITIVE_INFINITY);
  if (records[0]?.type === TYPE.RRSIG || records.every((record) => record.ttl === ttl)) return records;
  return records.map((record) => ({ ...record, ttl }));
}
