// Plans the signatures and rows of an edit of a signed zone, from the new records at the names that it touches.
// Requests the existing rows step by step, so that the caller can read them with few statements.

import { isWithin, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { soaNumbers } from '../build-zone.ts';
import type { ZoneRecord } from '../zone.ts';
import { denialOwner, denialType, NSEC3_PARAMETERS, placeOf, readLink } from './denial-records.ts';
import { draftRing } from './draft-ring.ts';
import {
  type OwnerRows,
  type PlannedRows,
  planNeighbour,
  planOwner,
  type Signers,
  signedRows,
} from './plan-rows.ts';
import type { SetToSign } from './sign-set.ts';
import { type DenialKind, isMade, namesBetween } from './signed-types.ts';
import { distinct } from './standing.ts';
import { ZoneDraft } from './zone-draft.ts';

/** Names are folded. */
export interface SigningOrder extends Signers {
  readonly denial: DenialKind;
  /**
   * The new records at the touched names, including marks; empty for a removed name. Always contains the apex, with its
   * SOA and the caller's DNSKEY, CDS and CDNSKEY. Types that the signer makes are ignored.
   */
  readonly wanted: ReadonlyMap<Name, readonly ZoneRecord[]>;
  /** True if `wanted` contains all names of the zone: everything else is removed. */
  readonly whole?: boolean;
}

/** The rows that the planner requests. Additional rows are allowed, but without duplicates if the whole zone is read. */
export interface Needed {
  /** All rows of the zone. The other fields are then empty. */
  readonly whole: boolean;
  /** All rows of these owners. */
  readonly owners: readonly Name[];
  /**
   * For each position, the denial (NSEC or NSEC3) with the largest position before it, or else the largest of the zone:
   * its rows and all RRSIG rows of its owner.
   */
  readonly before: readonly string[];
  /** All rows of all names below these. */
  readonly below: readonly Name[];
  /** For each: one row, except RRSIG, NSEC and NSEC3, of any name below it that is not in `wanted`. */
  readonly anyBelow: readonly Name[];
}

export interface SigningPlan {
  /** The rows of each owner, without the signatures to make. Unchanged owners are omitted. */
  readonly planned: readonly PlannedRows[];
  /** The signatures to make. */
  readonly toSign: readonly SetToSign[];
  /** Returns the rows to write, with these signatures in the order of `toSign`. */
  rows(signatures: readonly Uint8Array[]): OwnerRows[];
}

const NOTHING: Needed = { whole: false, owners: [], before: [], below: [], anyBelow: [] };

/** Expects the rows for each request that it yields. Throws BrokenRing if the whole zone must be signed. */
export function* planSigning(order: SigningOrder): Generator<Needed, SigningPlan, Iterable<ZoneRecord>> {
  return yield* new SigningPlanner(order).plan();
}

class SigningPlanner {
  readonly #order: SigningOrder;
  readonly #draft: ZoneDraft;
  readonly #ttl: number;

  constructor(order: SigningOrder) {
    const { apex, denial, wanted, whole = false } = order;
    const records = wanted.get(apex);
    const soa = records?.find(({ type }) => type === TYPE.SOA);
    if (records === undefined || soa === undefined) throw new RangeError('the apex and its SOA are required');
    this.#order = order;
    this.#ttl = soaNumbers({ ...soa, rdata: [soa.rdata] }).negativeTtl; // RFC 9077 §3
    const parameters = { owner: apex, type: TYPE.NSEC3PARAM, ttl: this.#ttl, rdata: [NSEC3_PARAMETERS] };
    this.#draft = new ZoneDraft(apex, wanted, { whole, made: denial === 'nsec3' ? [parameters] : [] });
  }

  *plan(): Generator<Needed, SigningPlan, Iterable<ZoneRecord>> {
    const draft = this.#draft;
    const { wanted, whole = false } = this.#order;
    const names = new Set(wanted.keys());
    if (!whole) {
      draft.standing.learn(distinct(yield this.#aroundTouched()));
      const existing = draft.standing.at(draft.apex).sets.get(TYPE.SOA);
      // all denials have this TTL, so all of them change with it
      const isEvery = existing === undefined || soaNumbers(existing).negativeTtl !== this.#ttl;
      if (!isEvery) return yield* this.#planPart(names);
    }
    draft.standing.learn(yield { ...NOTHING, whole: true });
    for (const name of draft.read()) names.add(name);
    return this.#finish(names, { peopled: new Set(), isWhole: true });
  }

  *#planPart(names: Set<Name>): Generator<Needed, SigningPlan, Iterable<ZoneRecord>> {
    const draft = this.#draft;
    const turned = [...names].filter((name) => (draft.depthOf(name) === 'cut') !== this.#wasCut(name));
    if (turned.length > 0) {
      draft.standing.learn(distinct(yield { ...NOTHING, below: turned }));
      for (const name of draft.read())
        if (turned.some((cut) => name !== cut && isWithin(name, cut))) names.add(name);
    }
    const peopled = new Set<Name>();
    if (this.#order.denial === 'nsec3') {
      const needed = this.#hashedNeeds(names);
      if (needed.anyBelow.length + needed.owners.length > 0) {
        const rows = distinct(yield needed);
        draft.standing.learn(rows.filter(({ type }) => type === TYPE.NSEC3 || type === TYPE.RRSIG));
        const asked = new Set(needed.anyBelow);
        for (const { owner, type } of rows)
          if (!isMade(type) && !names.has(owner))
            for (const above of namesBetween(owner, draft.apex)) if (asked.has(above)) peopled.add(above);
      }
    }
    return this.#finish(names, { peopled, isWhole: false });
  }

  /** Uses the denial rather than NS: while a zone is signed piece by piece, edits write its names as in an unsigned one. */
  #wasCut(name: Name): boolean {
    const { apex, denial } = this.#order;
    const owner = denialOwner(placeOf(name, apex, denial), name, apex, denial);
    const set = this.#draft.standing.at(owner).sets.get(denialType(denial));
    return name !== apex && set !== undefined && readLink(set, apex, denial)?.types.has(TYPE.NS) === true;
  }

  #aroundTouched(): Needed {
    const { wanted, denial } = this.#order;
    const names = new Set<Name>();
    for (const name of wanted.keys()) {
      names.add(name);
      for (const above of namesBetween(name, this.#draft.apex)) names.add(above);
    }
    const places = denial === 'nsec' ? [...wanted.keys()] : [...names];
    return { ...NOTHING, ...this.#denialsOf(places, [...names]) };
  }

  /** Requests the denials of the names, the preceding ones, and `owners`. */
  #denialsOf(names: readonly Name[], owners: readonly Name[]): Pick<Needed, 'owners' | 'before'> {
    const { apex, denial } = this.#order;
    const places = names.map((name) => ({ name, place: placeOf(name, apex, denial) }));
    const hashed = places.map(({ name, place }) => denialOwner(place, name, apex, denial));
    const before = places.filter(({ name }) => name !== apex).map(({ place }) => place); // the apex is never added or removed
    return { owners: [...new Set([...owners, ...hashed])], before };
  }

  /**
   * With NSEC3, requests the denials of names below new and removed cuts, and whether names that lost all records still
   * have names below them.
   */
  #hashedNeeds(names: ReadonlySet<Name>): Needed {
    const draft = this.#draft;
    const { apex, wanted } = this.#order;
    const added = new Set<Name>();
    const peopled = new Set<Name>();
    const bare = new Set<Name>();
    for (const name of names) {
      const isThere = draft.setsAt(name).size > 0 && draft.depthOf(name) !== 'below';
      if (!wanted.has(name)) added.add(name);
      if (!isThere && wanted.has(name) && name !== apex) bare.add(name);
      for (const above of namesBetween(name, draft.apex)) {
        if (isThere) peopled.add(above);
        if (wanted.has(name)) bare.add(above);
        else added.add(above);
      }
    }
    const anyBelow = [...bare].filter(
      (name) =>
        !peopled.has(name) &&
        draft.setsAt(name).size === 0 &&
        draft.depthOf(name) !== 'below' &&
        draft.standing
          .at(denialOwner(placeOf(name, apex, 'nsec3'), name, apex, 'nsec3'))
          .sets.has(TYPE.NSEC3),
    );
    return { ...NOTHING, ...this.#denialsOf([...added], []), anyBelow };
  }

  #finish(names: ReadonlySet<Name>, ring: { peopled: ReadonlySet<Name>; isWhole: boolean }): SigningPlan {
    const draft = this.#draft;
    const { denial } = this.#order;
    const { sets, gone } = draftRing(draft, { kind: denial, ttl: this.#ttl, names, ...ring });
    const made = new Map(sets.map((set) => [set.owner, set]));
    const planned: PlannedRows[] = [];
    const add = (rows: PlannedRows | undefined) => {
      if (rows !== undefined) planned.push(rows);
    };
    for (const owner of names) {
      const nsec = made.get(owner);
      const all = [...draft.setsAt(owner).values(), ...(nsec === undefined ? [] : [nsec])];
      add(
        planOwner(
          owner,
          { sets: all, depth: draft.depthOf(owner), before: draft.standing.at(owner) },
          this.#order,
        ),
      );
    }
    for (const set of sets) {
      if (names.has(set.owner)) continue;
      const before = draft.standing.at(set.owner);
      if (denial === 'nsec') add(planNeighbour(set, before, this.#order));
      else add(planOwner(set.owner, { sets: [set], depth: 'inside', before }, this.#order));
    }
    const strays = ring.isWhole ? [...draft.standing.names()].map(([owner]) => owner) : gone;
    for (const owner of strays)
      if (!names.has(owner) && !made.has(owner)) planned.push({ owner, records: [], toSign: [] });
    return planOf(planned);
  }
}

export function planOf(planned: readonly PlannedRows[]): SigningPlan {
  return {
    planned,
    toSign: planned.flatMap(({ toSign }) => toSign),
    rows(signatures) {
      const left = signatures.values();
      return planned.map((rows) => signedRows(rows, left));
    },
  };
}
