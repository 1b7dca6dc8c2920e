// Plans a change of record sets in an operator zone. Refuses a change if nodes would refuse to serve its result (by the
// rules of build-zone.ts), so that it is not committed.

import { RCODE } from '../../dns/message/rcodes.ts';
import { refuseUpdate, type UpdateRefusal } from '../../dns/message/update.ts';
import { type Name, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { OwnersCheck } from '../check-owners.ts';
import { nextSerial, serialIn, withSerial } from '../serial.ts';
import type { OwnerRows } from '../signing/plan-rows.ts';
import { namesBetween } from '../signing/signed-types.ts';
import { recordsByOwner } from '../signing/standing.ts';
import type { RecordSet, ZoneRecord } from '../zone.ts';

interface ZoneNamesNeeded {
  /** Load all records at these names. */
  readonly at: readonly Name[];
  /** Load the DNAME records at these names, which are above the others. */
  readonly dnamesAt: readonly Name[];
  /** Names at which a DNAME is written. Find those that have names below them, not counting the names in `at`. */
  readonly below: readonly Name[];
}

export function namesOfZoneEdit(apex: Name, sets: readonly RecordSet[]): ZoneNamesNeeded {
  const at = new Set([apex, ...sets.map(({ owner }) => owner)]);
  const dnamesAt = new Set<Name>();
  for (const owner of at) {
    for (const above of namesBetween(owner, apex)) {
      if (dnamesAt.has(above)) break;
      if (!at.has(above)) dnamesAt.add(above);
    }
  }
  const dnames = sets.filter(({ type, rdata }) => type === TYPE.DNAME && rdata.length > 0);
  return { at: [...at], dnamesAt: [...dnamesAt], below: dnames.map(({ owner }) => owner) };
}

interface ZoneEditState {
  readonly apex: Name;
  /** The stored records that `namesOfZoneEdit` requests. */
  readonly records: readonly ZoneRecord[];
  /** The names of `below` that have other names below them. */
  readonly parents: ReadonlySet<Name>;
  /** True if the fleet signs the zone. If false, any signatures in the zone are another signer's. */
  readonly isSignedHere: boolean;
}

/** A changed owner. `records` replace its records of `types`. */
export interface EditedOwner extends Required<Omit<OwnerRows, 'isNew'>> {
  /** All records of the owner after the change, including the signer's. */
  readonly all: readonly ZoneRecord[];
}

type PlannedZoneEdit =
  | UpdateRefusal
  /** The changed owners. The apex is one of them: the zone gets a newer serial (RFC 2136 §3.6). Empty if nothing changes. */
  | { readonly kind: 'edit'; readonly owners: readonly EditedOwner[]; readonly serial: number };

/** `sets` are the changed sets, each with its new content; a deleted set has no rdata. */
export function planZoneEdit(state: ZoneEditState, sets: readonly RecordSet[]): PlannedZoneEdit {
  const { apex, records, parents } = state;
  const before = recordsByOwner(records);
  const atApex = before.get(apex) ?? [];
  const soa = atApex.find(({ type }) => type === TYPE.SOA);
  if (soa === undefined) throw new RangeError('the records of the apex are missing');
  const served = serialIn(soa.rdata);
  if (sets.length === 0) return { kind: 'edit', owners: [], serial: served };
  if (!state.isSignedHere && atApex.some(({ type }) => type === TYPE.RRSIG))
    return refuse('the zone is signed by another signer, which must make the change');
  const parent = sets.find(({ owner, type }) => type === TYPE.DNAME && parents.has(owner));
  if (parent !== undefined)
    return refuse(`${printName(parent.owner)} has names below it, so it cannot have a DNAME`); // RFC 6672 §2.4

  const withSoa = withNewerSoa(soa, sets);
  const owners = editedOwners(before, withSoa);
  const dnames = new Set(records.flatMap(({ owner, type }) => (type === TYPE.DNAME ? [owner] : [])));
  for (const { owner, type, rdata } of sets) {
    if (type !== TYPE.DNAME) continue;
    if (rdata.length > 0) dnames.add(owner);
    else dnames.delete(owner);
  }
  const check = new OwnersCheck(apex, (name) => dnames.has(name));
  for (const { all } of owners) check.add(all);
  const [problem] = check.end();
  if (problem !== undefined) return refuse(problem.message);
  if (owners.some(({ owner, all }) => owner === apex && all.some(({ type }) => type === TYPE.ZONEMD)))
    return refuse(`${printName(apex)} has a ZONEMD, which would no longer match the zone`); // RFC 8976 §4
  const written = withSoa.find(({ owner, type }) => owner === apex && type === TYPE.SOA) as RecordSet;
  return { kind: 'edit', owners, serial: serialIn(written.rdata[0] as Uint8Array) };
}

function refuse(message: string): UpdateRefusal {
  return refuseUpdate(RCODE.REFUSED, message);
}

/** Returns the sets with an SOA. Unless the update changes the SOA, it gets the next serial (RFC 2136 §3.6). */
function withNewerSoa(
  { owner, type, ttl, rdata }: ZoneRecord,
  sets: readonly RecordSet[],
): readonly RecordSet[] {
  if (sets.some((set) => set.owner === owner && set.type === type)) return sets;
  return [...sets, { owner, type, ttl, rdata: [withSerial(rdata, nextSerial(serialIn(rdata)))] }];
}

function editedOwners(
  before: ReadonlyMap<Name, readonly ZoneRecord[]>,
  sets: readonly RecordSet[],
): EditedOwner[] {
  const edited = new Map<Name, { types: number[]; records: ZoneRecord[] }>();
  for (const { owner, type, ttl, rdata } of sets) {
    const entry = edited.get(owner) ?? { types: [], records: [] };
    edited.set(owner, entry);
    entry.types.push(type);
    for (const one of rdata) entry.records.push({ owner, type, ttl, rdata: one });
  }
  return [...edited].map(([owner, { types, records }]) => {
    const others = (before.get(owner) ?? []).filter(({ type }) => !types.includes(type));
    return { owner, types, records, all: [...others, ...records] };
  });
}
