// Applies the update section to the record sets that it touches (RFC 2136 §3.4.2). Records that RFC 2136 tells servers to
// ignore silently are ignored.

import type { UpdateRecord } from '../../dns/message/update.ts';
import type { Name } from '../../dns/name.ts';
import { CLASS, TYPE } from '../../dns/type-codes.ts';
import { isNewer, serialIn } from '../serial.ts';
import type { RecordSet } from '../zone.ts';
import { recordKey } from './sets-by-name.ts';
import { isGuardedType, type UpdatedZone } from './updated-zone.ts';

/** Types that the signer of a zone generates. Updates neither change nor delete such records. */
export const DNSSEC_TYPES: ReadonlySet<number> = new Set([
  TYPE.RRSIG,
  TYPE.NSEC,
  TYPE.NSEC3,
  TYPE.NSEC3PARAM,
  TYPE.DNSKEY,
  TYPE.CDS,
  TYPE.CDNSKEY,
]);
const WKS = 11;
/** Address and protocol of a WKS record (RFC 1035 §3.4.2). */
const WKS_IDENTITY_OCTETS = 5;

interface DraftSet {
  ttl: number;
  /** The records by their identity. Empty if the set does not exist. */
  readonly records: Map<string, Uint8Array>;
}

/**
 * Returns each set that the update changes, with its new content; a deleted set has no rdata. `prescan` and
 * `judgeGrants` must have accepted the updates.
 */
export function applyUpdate(zone: UpdatedZone, updates: readonly UpdateRecord[]): RecordSet[] {
  const draft = new Draft(zone);
  for (const record of updates) {
    if (record.class === CLASS.IN) draft.add(record);
    else if (record.class === CLASS.NONE) draft.deleteRecord(record);
    else if (deletesName(record)) draft.deleteName(record.owner);
    else draft.deleteSet(record.owner, record.type);
  }
  return draft.changes();
}

/** Returns true for the deletion of all sets of a name (§2.5.3). */
export function deletesName(record: Pick<UpdateRecord, 'class' | 'type'>): boolean {
  return record.class === CLASS.ANY && record.type === TYPE.ANY;
}

/** Returns true if the deletion of all sets of a name keeps this one (§3.4.2.3). */
export function staysAtName(apex: Name, owner: Name, type: number): boolean {
  return DNSSEC_TYPES.has(type) || (owner === apex && (type === TYPE.SOA || type === TYPE.NS));
}

class Draft {
  readonly #zone: UpdatedZone;
  readonly #names = new Map<Name, Map<number, DraftSet>>();

  constructor(zone: UpdatedZone) {
    this.#zone = zone;
  }

  /** Adds a record (§3.4.2.2). */
  add({ owner, type, ttl, rdata }: UpdateRecord): void {
    if (this.#conflicts(owner, type)) return;
    const set = this.#setOf(owner, type);
    if (type === TYPE.SOA && !isSuccessor([...set.records.values()][0], rdata)) return;
    if (isSingle(type)) set.records.clear();
    const key = identityOf(type, rdata);
    if (type === WKS || !set.records.has(key)) set.records.set(key, rdata);
    set.ttl = ttl; // the last TTL is that of the whole set (RFC 2181 §5.2)
  }

  /** Returns true if a CNAME would exist next to other data. DNSSEC records are allowed there (RFC 4035 §2.5). */
  #conflicts(owner: Name, type: number): boolean {
    for (const [other, { records }] of this.#setsAt(owner)) {
      if (records.size === 0 || DNSSEC_TYPES.has(other)) continue;
      if ((type === TYPE.CNAME) === (other === TYPE.CNAME)) continue;
      // A proxied CNAME is published as addresses, so data of other kinds may exist next to it.
      if (this.#zone.proxied.has(owner) && !(isGuardedType(type) && isGuardedType(other))) continue;
      return true;
    }
    return false;
  }

  /** Deletes all sets of a name (§3.4.2.3). */
  deleteName(owner: Name): void {
    for (const [type, { records }] of this.#setsAt(owner))
      if (!staysAtName(this.#zone.apex, owner, type)) records.clear();
  }

  /** Deletes a set (§3.4.2.3). */
  deleteSet(owner: Name, type: number): void {
    if (!staysAtName(this.#zone.apex, owner, type)) this.#setOf(owner, type).records.clear();
  }

  /** Deletes a record (§3.4.2.4). */
  deleteRecord({ owner, type, rdata }: UpdateRecord): void {
    const { apex } = this.#zone;
    if (type === TYPE.SOA || DNSSEC_TYPES.has(type)) return;
    const { records } = this.#setOf(owner, type);
    if (type === TYPE.NS && owner === apex && records.size === 1) return;
    const key = identityOf(type, rdata);
    const held = records.get(key);
    if (held !== undefined && recordKey(type, held) === recordKey(type, rdata)) records.delete(key);
  }

  /** Returns the sets that differ from those before the update. */
  changes(): RecordSet[] {
    const changed: RecordSet[] = [];
    for (const [owner, sets] of this.#names) {
      for (const [type, { ttl, records }] of sets) {
        const before = this.#zone.sets.get(owner)?.get(type);
        const rdata = [...records.values()];
        if (!isSame(type, { ttl, rdata }, before)) changed.push({ owner, type, ttl, rdata });
      }
    }
    return changed;
  }

  #setOf(owner: Name, type: number): DraftSet {
    const sets = this.#setsAt(owner);
    const set = sets.get(type) ?? { ttl: 0, records: new Map() };
    sets.set(type, set);
    return set;
  }

  #setsAt(owner: Name): Map<number, DraftSet> {
    const known = this.#names.get(owner);
    if (known !== undefined) return known;
    const sets = new Map<number, DraftSet>();
    for (const { type, ttl, rdata } of this.#zone.sets.get(owner)?.values() ?? [])
      sets.set(type, { ttl, records: new Map(rdata.map((one) => [identityOf(type, one), one])) });
    this.#names.set(owner, sets);
    return sets;
  }
}

/** Returns true if a name has at most one record of the type. A new one replaces it (§3.4.2.2, RFC 6672 §5.2). */
function isSingle(type: number): boolean {
  return type === TYPE.CNAME || type === TYPE.SOA || type === TYPE.DNAME;
}

/** Returns true if an SOA may replace the zone's. The pseudocode of §3.4.2.7 would also accept an equal serial. */
function isSuccessor(held: Uint8Array | undefined, rdata: Uint8Array): boolean {
  return held !== undefined && isNewer(serialIn(rdata), serialIn(held));
}

/** Identifies a record in its set: a new record replaces the one with the same identity. */
function identityOf(type: number, rdata: Uint8Array): string {
  const key = recordKey(type, rdata);
  return type === WKS ? key.slice(0, WKS_IDENTITY_OCTETS) : key;
}

type Content = Pick<RecordSet, 'ttl' | 'rdata'>;

function isSame(type: number, after: Content, before: RecordSet | undefined): boolean {
  if (before === undefined || after.rdata.length === 0)
    return before === undefined && after.rdata.length === 0;
  const held = new Set(before.rdata.map((rdata) => recordKey(type, rdata)));
  return (
    after.ttl === before.ttl &&
    held.size === after.rdata.length &&
    after.rdata.every((rdata) => held.has(recordKey(type, rdata)))
  );
}
