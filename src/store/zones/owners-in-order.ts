// The records of a large zone by owner, in the order in which they are written. They are sorted in steps, between which the
// process does other work, and need no second list of rows.

import { setImmediate } from 'node:timers/promises';
import type { Name } from '../../dns/name.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { encodeNameColumn } from '../postgres/name-column.ts';

const RECORDS_A_STEP = 16_384;

export class OwnersInOrder {
  readonly #records: readonly ZoneRecord[];
  readonly #order: Uint32Array;

  private constructor(records: readonly ZoneRecord[], order: Uint32Array) {
    this.#records = records;
    this.#order = order;
  }

  /** Sorts by owner as Postgres's "C" collation does. */
  static async of(records: readonly ZoneRecord[]): Promise<OwnersInOrder> {
    const columns: string[] = [];
    for (const [i, { owner }] of records.entries()) {
      if (i % RECORDS_A_STEP === 0) await setImmediate();
      columns.push(owner === records[i - 1]?.owner ? (columns[i - 1] as string) : flatColumn(owner));
    }
    const isBefore = (a: number, b: number) => (columns[a] as string) < (columns[b] as string);
    let order = new Uint32Array(records.length).map((_, i) => i);
    for (let at = 0; at < order.length; at += RECORDS_A_STEP) {
      order
        .subarray(at, at + RECORDS_A_STEP)
        .sort((a, b) => (isBefore(a, b) ? -1 : isBefore(b, a) ? 1 : a - b));
      await setImmediate();
    }
    let merged = new Uint32Array(order.length);
    for (let step = RECORDS_A_STEP; step < order.length; step *= 2) {
      for (let at = 0; at < order.length; at += 2 * step) {
        merge(
          order.subarray(at, at + step),
          order.subarray(at + step, at + 2 * step),
          merged.subarray(at),
          isBefore,
        );
        await setImmediate();
      }
      [order, merged] = [merged, order];
    }
    return new OwnersInOrder(records, order);
  }

  *[Symbol.iterator](): Generator<readonly ZoneRecord[]> {
    let same: ZoneRecord[] = [];
    for (const index of this.#order) {
      const record = this.#records[index] as ZoneRecord;
      if (same.length > 0 && record.owner !== same[0]?.owner) {
        yield same;
        same = [];
      }
      same.push(record);
    }
    if (same.length > 0) yield same;
  }
}

/** Flattened: a text that was joined from parts takes several times the memory. */
function flatColumn(owner: Name): string {
  return Buffer.from(encodeNameColumn(owner), 'latin1').toString('latin1');
}

function merge(
  first: Uint32Array,
  second: Uint32Array,
  into: Uint32Array,
  isBefore: (a: number, b: number) => boolean,
): void {
  let [i, j] = [0, 0];
  while (i < first.length || j < second.length) {
    const takesSecond =
      i === first.length || (j < second.length && isBefore(second[j] as number, first[i] as number));
    into[i + j] = (takesSecond ? second[j] : first[i]) as number;
    if (takesSecond) j++;
    else i++;
  }
}
