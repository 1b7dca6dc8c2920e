// The state of a signed zone after a change, as far as it was read: the sets at a name, the name's depth, and the names
// that a change affects besides those that it touches.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordSet, ZoneRecord } from '../zone.ts';
import { type Depth, depthOf, isMade } from './signed-types.ts';
import { groupRecords, Standing } from './standing.ts';

type Sets = ReadonlyMap<number, RecordSet>;

const NO_SETS: Sets = new Map();

export class ZoneDraft {
  readonly apex: Name;
  readonly standing = new Standing();
  readonly #wanted: ReadonlyMap<Name, readonly ZoneRecord[]>;
  readonly #sets = new Map<Name, Sets>();
  /** True if everything not wanted is removed. */
  readonly #isWhole: boolean;
  /** Sets that the signer adds at the apex. */
  readonly #made: readonly RecordSet[];

  constructor(
    apex: Name,
    wanted: ReadonlyMap<Name, readonly ZoneRecord[]>,
    { whole, made }: { whole: boolean; made: readonly RecordSet[] },
  ) {
    this.apex = apex;
    this.#wanted = wanted;
    this.#isWhole = whole;
    this.#made = made;
  }

  /** Returns the sets without those that the signer makes. Marks count as sets. */
  setsAt(name: Name): Sets {
    const wanted = this.#wanted.get(name);
    if (wanted === undefined) return this.#isWhole ? NO_SETS : this.setsBefore(name);
    let sets = this.#sets.get(name);
    if (sets === undefined) {
      const owners = wanted.filter(({ type }) => !isMade(type));
      const made = name === this.apex ? this.#made : [];
      sets = new Map([...groupRecords(name, owners).sets, ...made.map((set) => [set.type, set] as const)]);
      this.#sets.set(name, sets);
    }
    return sets;
  }

  setsBefore(name: Name): Sets {
    const { sets } = this.standing.at(name);
    return [...sets.keys()].some(isMade) ? new Map([...sets].filter(([type]) => !isMade(type))) : sets;
  }

  depthOf(name: Name): Depth {
    return depthOf(name, this.apex, (at) => this.#isCut(at));
  }

  #isCut(name: Name): boolean {
    return name !== this.apex && this.setsAt(name).has(TYPE.NS);
  }

  /** Returns the names that were read with sets that the signer does not make. */
  *read(): Generator<Name> {
    for (const [name, { sets }] of this.standing.names())
      for (const type of sets.keys())
        if (!isMade(type)) {
          yield name;
          break;
        }
  }
}
