// The rows of a signed zone in memory: supplies exactly the rows that a plan requests, and stores the written ones.

import { isWithin, type Name } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { denialType, readLink } from '../../../src/zone/signing/denial-records.ts';
import type { OwnerRows } from '../../../src/zone/signing/plan-rows.ts';
import {
  type Needed,
  planSigning,
  type SigningOrder,
  type SigningPlan,
} from '../../../src/zone/signing/plan-signing.ts';
import { signSet } from '../../../src/zone/signing/sign-set.ts';
import { isMade } from '../../../src/zone/signing/signed-types.ts';
import { recordsByOwner } from '../../../src/zone/signing/standing.ts';
import type { SignatureTimes } from '../../../src/zone/signing/validity.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';

interface SignedEdit {
  readonly plan: SigningPlan;
  /** The requests of the plan, in order. */
  readonly asked: readonly Needed[];
  readonly written: readonly OwnerRows[];
}

export class SignedRows {
  readonly apex: Name;
  readonly rows: Map<Name, ZoneRecord[]>;
  /** Number of times that the rows of an owner were written. */
  readonly versions = new Map<Name, number>();

  constructor(apex: Name, records: Iterable<ZoneRecord> = []) {
    this.apex = apex;
    this.rows = recordsByOwner(records);
  }

  records(): ZoneRecord[] {
    return [...this.rows.values()].flat();
  }

  /** @param shown additional rows that the plan sees */
  sign(order: SigningOrder, times: SignatureTimes, shown: readonly ZoneRecord[] = []): SignedEdit {
    const planning = planSigning(order);
    const asked: Needed[] = [];
    let step = planning.next();
    while (!step.done) {
      const needed = step.value;
      asked.push(needed);
      const rows = this.#read(needed, order);
      step = planning.next(asked.length === 1 ? [...rows, ...shown] : rows);
    }
    const plan = step.value;
    return { plan, asked, written: this.write(plan, times) };
  }

  write(plan: SigningPlan, times: SignatureTimes): OwnerRows[] {
    const rows = plan.rows(plan.toSign.map((one) => signSet(one, { zone: this.apex, times })));
    this.replace(rows);
    return rows;
  }

  replace(written: readonly OwnerRows[]): void {
    for (const { owner, types, records } of written) {
      const stays = (this.rows.get(owner) ?? []).filter(
        ({ type }) => types !== undefined && !types.includes(type),
      );
      this.versions.set(owner, (this.versions.get(owner) ?? 0) + 1);
      if (stays.length + records.length > 0) this.rows.set(owner, [...stays, ...records]);
      else this.rows.delete(owner);
    }
  }

  #read({ whole, owners, before, below, anyBelow }: Needed, { denial, wanted }: SigningOrder): ZoneRecord[] {
    if (whole) return this.records();
    const found = new Set(owners.flatMap((owner) => this.rows.get(owner) ?? []));
    for (const place of before) for (const row of this.#before(place, denial)) found.add(row);
    for (const [owner, rows] of this.rows)
      if (below.some((above) => owner !== above && isWithin(owner, above)))
        for (const row of rows) found.add(row);
    for (const name of anyBelow) {
      const one = this.records().find(
        ({ owner, type }) =>
          owner !== name &&
          isWithin(owner, name) &&
          !wanted.has(owner) &&
          (!isMade(type) || type === TYPE.NSEC3PARAM),
      );
      if (one !== undefined) found.add(one);
    }
    return [...found];
  }

  #before(place: string, kind: SigningOrder['denial']): ZoneRecord[] {
    const type = denialType(kind);
    const places = this.records()
      .filter((row) => row.type === type)
      .flatMap((row) => {
        const link = readLink({ ...row, rdata: [row.rdata] }, this.apex, kind);
        return link === undefined ? [] : [{ owner: row.owner, place: link.place }];
      })
      .sort((a, b) => (a.place < b.place ? -1 : 1));
    const found = places.findLast((each) => each.place < place) ?? places.at(-1);
    const rows = found === undefined ? [] : (this.rows.get(found.owner) ?? []);
    return rows.filter((row) => row.type === type || row.type === TYPE.RRSIG);
  }
}
