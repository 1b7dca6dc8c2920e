// What an edit of a signed zone signs, keeps and writes, from the records that are wanted at the names that it touches. It
// says step by step which rows it has to see, so that whoever reads them needs few statements.

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
   * All records wanted at the names that are touched, none where a name goes; marks among them. The apex is always here, with
   * its SOA, and with DNSKEY, CDS and CDNSKEY as the caller wants them. Types that the signer makes are left out.
   */
  readonly wanted: ReadonlyMap<Name, readonly ZoneRecord[]>;
  /** `wanted` has all names of the zone: what stands anywhere else goes. */
  readonly whole?: boolean;
}

/** Rows that have to be seen; more may be given, but each once where the zone is read whole. */
export interface Needed {
  /** All rows of the zone: the rest is empty then. */
  readonly whole: boolean;
  /** All rows of these owners. */
  readonly owners: readonly Name[];
  /**
   * For each place, of the denial (NSEC or NSEC3) with the largest place before it, or else the largest of the zone: the
   * denial's rows and all RRSIG rows of its owner.
   */
  readonly before: readonly string[];
  /** All rows of all names below these. */
  readonly below: readonly Name[];
  /** For each: any one row of any name below it that is not in `wanted`, but RRSIG, NSEC and NSEC3. */
  readonly anyBelow: readonly Name[];
}

export interface SigningPlan {
  /** Owner by owner, without the signatures: owners whose rows stay as they are are left out. */
  readonly planned: readonly PlannedRows[];
  /** One signature is to be made for each. */
  readonly toSign: readonly SetToSign[];
  /** What is written, with these signatures in the order of `toSign`. */
  rows(signatures: readonly Uint8Array[]): OwnerRows[];
}

const NOTHING: Needed = { whole: false, owners: [], before: [], below: [], anyBelow: [] };

/** Takes the rows that it yields for. Throws BrokenRing: the zone is to be signed as a whole. */
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
    if (records === undefined || soa === undefined)
      throw new RangeError('the apex and its SOA are always wanted');
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
      const stood = draft.standing.at(draft.apex).sets.get(TYPE.SOA);
      // every denial has this TTL: all of them change with it
      const isEvery = stood === undefined || soaNumbers(stood).negativeTtl !== this.#ttl;
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

  /** The denial tells, and not NS: while a zone is signed piece by piece, edits write their names as of an unsigned one. */
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

  /** The denials of the names, and those before them; beside these owners. */
  #denialsOf(names: readonly Name[], owners: readonly Name[]): Pick<Needed, 'owners' | 'before'> {
    const { apex, denial } = this.#order;
    const places = names.map((name) => ({ name, place: placeOf(name, apex, denial) }));
    const hashed = places.map(({ name, place }) => denialOwner(place, name, apex, denial));
    const before = places.filter(({ name }) => name !== apex).map(({ place }) => place); // the apex neither comes nor goes
    return { owners: [...new Set([...owners, ...hashed])], before };
  }

  /** With NSEC3: denials of names below cuts that begin or end, and whether names that lost all still have some below. */
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
