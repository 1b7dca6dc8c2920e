// Checks records owner by owner with the rules of build-zone.ts, in little memory: for zones that are stored but not
// served here, and for changes of which only the touched owners are known.

import type { Name } from '../dns/name.ts';
import { attachSignatures } from './attach-signatures.ts';
import { checkApex, checkNode, checkSizes } from './check-node.ts';
import { collectRecords } from './collect-records.ts';
import type { RecordSet, ZoneRecord } from './zone.ts';
import { ProblemList, type ZoneProblem } from './zone-problem.ts';

export class OwnersCheck {
  readonly #apex: Name;
  readonly #hasDname: (name: Name) => boolean;
  readonly #problems = new ProblemList();
  #apexSets: ReadonlyMap<number, RecordSet> | undefined;

  /** @param hasDname returns true if the zone has a DNAME at the name */
  constructor(apex: Name, hasDname: (name: Name) => boolean) {
    this.#apex = apex;
    this.#hasDname = hasDname;
  }

  get hasProblems(): boolean {
    return this.#problems.list.length > 0;
  }

  /** Checks all records of one owner, which is folded. Each owner must be added only once. */
  add(records: readonly ZoneRecord[]): void {
    const problems = this.#problems;
    const collected = collectRecords(this.#apex, records, problems);
    attachSignatures(collected);
    for (const node of collected.nodes.values()) {
      if (node.name === this.#apex) this.#apexSets = node.sets;
      checkNode(this.#apex, node, this.#hasDname, problems);
      checkSizes(node.name, node.sets.values(), problems);
    }
    for (const set of collected.hashed.values()) checkSizes(set.owner, [set], problems);
  }

  /** Returns the problems of all owners. The apex must be one of them. */
  end(): readonly ZoneProblem[] {
    checkApex(this.#apex, this.#apexSets, this.#problems);
    return this.#problems.list;
  }
}
