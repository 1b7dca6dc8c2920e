// The view of a zone in which warnings are searched.

import { foldCase, isWildcard, type Name, nameInRdata } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Zone } from '../zone.ts';

export interface ZoneView {
  readonly apex: Name;
  /** The hosts named by delegations below the apex. Empty if the zone has no delegation. */
  readonly nameservers: ReadonlySet<Name>;
  readonly hasWildcards: boolean;
  /** Returns false for names that exist only because of a name below them. */
  readonly hasRecords: (name: Name) => boolean;
  /** Returns undefined if the name has no such record. */
  rdataAt(name: Name, type: number): readonly Uint8Array[] | undefined;
  /** Returns true if a name without records exists only because of the record being checked. */
  isNew(name: Name, by: JudgedRecord): boolean;
}

/** A record being checked. Its owner is folded. */
export interface JudgedRecord {
  readonly owner: Name;
  readonly type: number;
  readonly rdata: Uint8Array;
  /** The mnemonic that a warning shows, if it differs: an ANAME is checked as an address. */
  readonly shownType?: string;
  /** True if only its host is checked, because the edit does not write the record itself. */
  readonly onlyHost?: boolean;
  /** Its position in a zone file. */
  readonly line?: number;
  readonly column?: number;
  readonly file?: string | undefined;
}

/**
 * A zone file has no earlier version, so it is unknown which names are new. Only the parents of names such as
 * `_acme-challenge.www` are likely to be created unintentionally.
 */
const isUnintended: ZoneView['isNew'] = (_name, { owner }) => beginsWithUnderscore(owner);

/** Returns true for names such as `_tcp`, which are not hosts. */
export function beginsWithUnderscore(name: Name): boolean {
  return name[1] === '_';
}

export function viewZone({ apex, nodes }: Zone): ZoneView {
  const nameservers = new Set<Name>();
  let hasWildcards = false;
  for (const { name, sets } of nodes.values()) {
    if (name !== apex)
      for (const rdata of sets.get(TYPE.NS)?.rdata ?? []) nameservers.add(nameserverOf(rdata));
    hasWildcards ||= isWildcard(name);
  }
  return {
    apex,
    nameservers,
    hasWildcards,
    hasRecords: (name) => (nodes.get(name)?.sets.size ?? 0) > 0,
    rdataAt: (name, type) => nodes.get(name)?.sets.get(type)?.rdata,
    isNew: isUnintended,
  };
}

/** A view of records that need not form a valid zone. */
export class ZoneIndex implements ZoneView {
  readonly apex: Name;
  readonly nameservers = new Set<Name>();
  hasWildcards = false;
  /** A name with a single record has no map, because imports have thousands of such names. */
  readonly #names = new Map<Name, JudgedRecord | Map<number, Uint8Array[]>>();

  constructor(apex: Name) {
    this.apex = apex;
  }

  add(record: JudgedRecord): void {
    const { owner, type, rdata } = record;
    const present = this.#names.get(owner);
    if (present === undefined) {
      this.#names.set(owner, record);
      this.hasWildcards ||= isWildcard(owner);
    } else {
      const sets = present instanceof Map ? present : new Map([[present.type, [present.rdata]]]);
      if (sets !== present) this.#names.set(owner, sets);
      const set = sets.get(type);
      if (set === undefined) sets.set(type, [rdata]);
      else set.push(rdata);
    }
    if (type === TYPE.NS && owner !== this.apex) this.nameservers.add(nameserverOf(rdata));
  }

  readonly hasRecords = (name: Name): boolean => this.#names.has(name);

  rdataAt(name: Name, type: number): readonly Uint8Array[] | undefined {
    const present = this.#names.get(name);
    if (present instanceof Map) return present.get(type);
    return present?.type === type ? [present.rdata] : undefined;
  }

  isNew(name: Name, by: JudgedRecord): boolean {
    return isUnintended(name, by);
  }
}

/** Offset of the host in the rdata of types whose host must have addresses. */
const HOST_FROM: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
]);

/** Returns the host of an NS, MX or SRV record, folded. Returns undefined for other types. */
export function hostOf({ type, rdata }: Pick<JudgedRecord, 'type' | 'rdata'>): Name | undefined {
  const from = HOST_FROM.get(type);
  return from === undefined ? undefined : foldCase(nameInRdata(rdata, from));
}

function nameserverOf(rdata: Uint8Array): Name {
  return foldCase(nameInRdata(rdata));
}
