// Finds the NSEC or NSEC3 records that prove what an answer denies (RFC 4035 §3.1.3, RFC 5155 §7.2). Records that the
// zone lacks are omitted, and no record denies an existing name.

import { readNsec3 } from '../../../src/dns/dnssec/denial.ts';
import { nsec3Hash } from '../../../src/dns/dnssec/nsec3-hash.ts';
import { compareNames, labelCount, type Name, parentOf, wildcardBelow } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { HashedDenial, RecordSet, Zone, ZoneNode } from '../../../src/zone/zone.ts';

/** The proofs of one answer, in order, each included once. Names are folded. */
export interface Proof {
  readonly sets: readonly RecordSet[];
  /** True if a missing name has the hash of an existing one, so that its absence cannot be proven (RFC 5155 §7.2.9). */
  readonly collides: boolean;
  /** Proves that the name exists without the type: NODATA, or a cut without DS. */
  noType(node: ZoneNode): void;
  /** Proves that neither the name exists nor a wildcard below its closest encloser. */
  noName(name: Name, encloser: Name): void;
  /** Proves that the name does not exist, so that its answer comes from the wildcard below its closest encloser. */
  expanded(name: Name, encloser: Name): void;
  /** Proves the same, and that the wildcard does not have the type. */
  noWildcardType(name: Name, encloser: Name, wildcard: ZoneNode): void;
}

/** Returns a proof that is empty if the zone is not signed. */
export function proofOf(zone: Zone): Proof {
  switch (zone.denials?.kind) {
    case 'nsec':
      return new NsecProof(zone, zone.denials.owners);
    case 'nsec3':
      return new Nsec3Proof(zone, zone.denials);
    default:
      return NO_PROOF;
  }
}

export const NO_PROOF: Proof = {
  sets: [],
  collides: false,
  noType: () => undefined,
  noName: () => undefined,
  expanded: () => undefined,
  noWildcardType: () => undefined,
};

class NsecProof implements Proof {
  readonly sets: RecordSet[] = [];
  readonly collides = false;
  readonly #zone: Zone;
  readonly #owners: readonly Name[];

  constructor(zone: Zone, owners: readonly Name[]) {
    this.#zone = zone;
    this.#owners = owners;
  }

  noType({ name, sets }: ZoneNode): void {
    const own = sets.get(TYPE.NSEC);
    if (own !== undefined) this.#add(own);
    // The next name in the NSEC before an empty non-terminal is below the empty non-terminal.
    else if (sets.size === 0 && !this.#zone.marked.has(name)) this.#addBefore(name);
  }

  noName(name: Name, encloser: Name): void {
    this.#addBefore(name);
    const wildcard = wildcardBelow(encloser);
    if (wildcard !== undefined) this.#addBefore(wildcard);
  }

  expanded(name: Name): void {
    this.#addBefore(name);
  }

  noWildcardType(name: Name, _: Name, wildcard: ZoneNode): void {
    this.noType(wildcard);
    this.#addBefore(name);
  }

  /** Adds the record that covers a name without NSEC, by the order of the owners. */
  #addBefore(name: Name): void {
    const before = this.#owners.findLast((owner) => compareNames(owner, name) < 0) ?? this.#owners.at(-1);
    const set = before === undefined ? undefined : this.#zone.nodes.get(before)?.sets.get(TYPE.NSEC);
    if (set !== undefined) this.#add(set);
  }

  #add(set: RecordSet): void {
    if (!this.sets.includes(set)) this.sets.push(set);
  }
}

type Chain = Extract<Zone['denials'], { kind: 'nsec3' }>;

class Nsec3Proof implements Proof {
  readonly sets: RecordSet[] = [];
  collides = false;
  readonly #zone: Zone;
  readonly #chain: Chain;

  constructor(zone: Zone, chain: Chain) {
    this.#zone = zone;
    this.#chain = chain;
  }

  noType({ name }: ZoneNode): void {
    const own = this.#matching(name);
    if (own !== undefined) this.#add(own);
    else if (name !== this.#zone.apex) this.#proveEncloser(name, parentOf(name)); // RFC 5155 §7.2.4, §7.2.7
  }

  noName(name: Name, encloser: Name): void {
    const provable = this.#proveEncloser(name, encloser);
    const wildcard = provable && wildcardBelow(provable);
    if (wildcard === undefined || this.#zone.nodes.has(wildcard)) return;
    this.#cover(wildcard);
  }

  expanded(name: Name, encloser: Name): void {
    this.#cover(ancestorBelow(name, encloser)); // RFC 5155 §7.2.6
  }

  noWildcardType(name: Name, encloser: Name, wildcard: ZoneNode): void {
    this.#proveEncloser(name, encloser); // RFC 5155 §7.2.5
    const own = this.#matching(wildcard.name);
    if (own !== undefined) this.#add(own);
  }

  /**
   * Proves the closest encloser (RFC 5155 §7.2.1). With opt-out, the chain lacks unsigned cuts and the empty non-terminals
   * above them. Then it proves the closest one in the chain, and a record with the opt-out bit covers the rest.
   */
  #proveEncloser(name: Name, encloser: Name): Name | undefined {
    let provable = encloser;
    let matching = this.#matching(provable);
    while (matching === undefined && provable !== this.#zone.apex) {
      provable = parentOf(provable);
      matching = this.#matching(provable);
    }
    if (matching === undefined) return undefined;
    const nextCloser = ancestorBelow(name, provable);
    const isThere = this.#zone.nodes.has(nextCloser);
    if (isThere && this.#covering(nextCloser)?.optOut !== true) return undefined;
    this.#add(matching);
    this.#cover(nextCloser);
    return provable;
  }

  #cover(name: Name): void {
    if (this.#matching(name) !== undefined) this.collides = true;
    const covering = this.#covering(name);
    if (covering !== undefined) this.#add(covering.entry);
  }

  #matching(name: Name): HashedDenial | undefined {
    const wanted = this.#hash(name);
    return this.#chain.entries.find(({ hash }) => Buffer.compare(hash, wanted) === 0);
  }

  #covering(name: Name): { entry: HashedDenial; optOut: boolean } | undefined {
    const wanted = this.#hash(name);
    const { entries } = this.#chain;
    const entry = entries.findLast(({ hash }) => Buffer.compare(hash, wanted) < 0) ?? entries.at(-1);
    return entry && { entry, optOut: this.#isOptOut(entry) };
  }

  #isOptOut({ set }: HashedDenial): boolean {
    return set.rdata.some((rdata) => readNsec3(set.owner, rdata, this.#zone.apex)?.optOut === true);
  }

  #hash(name: Name): Uint8Array {
    return nsec3Hash(name, this.#chain.salt, this.#chain.iterations);
  }

  #add({ set }: HashedDenial): void {
    if (!this.sets.includes(set)) this.sets.push(set);
  }
}

/** Returns the "next closer" name (RFC 5155 §1.3): the name or its ancestor with one label more than `encloser`. */
function ancestorBelow(name: Name, encloser: Name): Name {
  let next = name;
  while (labelCount(next) > labelCount(encloser) + 1) next = parentOf(next);
  return next;
}
