// What the search for warnings knows of a zone.

import { foldCase, isWildcard, type Name, nameInRdata } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { Zone } from '../zone.ts';

export interface ZoneView {
  readonly apex: Name;
  /** The hosts that delegations below the apex name. Without any, the zone has no delegation. */
  readonly nameservers: ReadonlySet<Name>;
  readonly hasWildcards: boolean;
  /** False for names that exist only because of a name below them. */
  readonly hasRecords: (name: Name) => boolean;
  /** Undefined if the name has no such record. */
  rdataAt(name: Name, type: number): readonly Uint8Array[] | undefined;
  /** True if a name without records exists only because of the record that is judged. */
  isNew(name: Name, by: JudgedRecord): boolean;
}

/** A record that is judged. Its owner is folded. */
export interface JudgedRecord {
  readonly owner: Name;
  readonly type: number;
  readonly rdata: Uint8Array;
  /** Its place in a zone file. */
  readonly line?: number;
  readonly column?: number;
  readonly file?: string | undefined;
}

/**
 * In a whole zone nothing is new. But only names with a label such as `_acme-challenge` are likely to lie below a name that is
 * meant to match a wildcard.
 */
const isUnintended: ZoneView['isNew'] = (_name, { owner }) => owner[1] === '_';

export function viewZone({ apex, nodes }: Zone): ZoneView {
  const nameservers = new Set<Name>();
  let hasWildcards = false;
  for (const { name, sets } of nodes.values()) {
    if (name !== apex) for (const rdata of sets.get(TYPE.NS)?.rdata ?? []) nameservers.add(hostOf(rdata));
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

/** Records that need not make a valid zone. */
export class ZoneIndex implements ZoneView {
  readonly apex: Name;
  readonly nameservers = new Set<Name>();
  hasWildcards = false;
  readonly #names = new Map<Name, Map<number, Uint8Array[]>>();

  constructor(apex: Name, records: Iterable<JudgedRecord> = []) {
    this.apex = apex;
    for (const record of records) this.add(record);
  }

  add({ owner, type, rdata }: JudgedRecord): void {
    let sets = this.#names.get(owner);
    if (sets === undefined) {
      sets = new Map();
      this.#names.set(owner, sets);
      this.hasWildcards ||= isWildcard(owner);
    }
    const set = sets.get(type);
    if (set === undefined) sets.set(type, [rdata]);
    else set.push(rdata);
    if (type === TYPE.NS && owner !== this.apex) this.nameservers.add(hostOf(rdata));
  }

  readonly hasRecords = (name: Name): boolean => this.#names.has(name);

  rdataAt(name: Name, type: number): readonly Uint8Array[] | undefined {
    return this.#names.get(name)?.get(type);
  }

  isNew(name: Name, by: JudgedRecord): boolean {
    return isUnintended(name, by);
  }
}

function hostOf(rdata: Uint8Array): Name {
  return foldCase(nameInRdata(rdata));
}
