// Incomplete signed zones, and the edits that lead from one to another: the sets that differ, in the form of the store.

import type { Name } from '../../../src/dns/name.ts';
import { coveredType } from '../../../src/dns/record/covered-type.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import type { ZoneChanges } from '../../../src/nameserver/image/edit-zone.ts';
import type { ZoneRecord } from '../../../src/zone/zone.ts';
import { pick, type Random } from './random-zones.ts';

/** Removes some signatures or denials, as while a zone is signed. The store has no signature without its set. */
export function thinned(
  random: Random,
  records: readonly ZoneRecord[],
  types: readonly number[],
): ZoneRecord[] {
  const gone = pick(random, types);
  const left = records.filter(({ type }) => type !== gone || random() < 0.5);
  const sets = new Set(left.map(({ owner, type }) => `${type} ${owner}`));
  return left.filter(
    ({ owner, type, rdata }) => type !== TYPE.RRSIG || sets.has(`${coveredType(rdata)} ${owner}`),
  );
}

/** Returns the record sets that differ. Signatures are a set of type RRSIG per owner. */
export function changesBetween(before: readonly ZoneRecord[], after: readonly ZoneRecord[]): ZoneChanges {
  const [from, to] = [setsOf(before), setsOf(after)];
  const records: ZoneRecord[] = [];
  const gone: { owner: Name; type: number }[] = [];
  for (const [key, [first]] of from)
    if (first !== undefined && !to.has(key)) gone.push({ owner: first.owner, type: first.type });
  for (const [key, set] of to) if (textOf(set) !== textOf(from.get(key) ?? [])) records.push(...set);
  return { records, gone };
}

function setsOf(records: readonly ZoneRecord[]): Map<string, ZoneRecord[]> {
  const sets = new Map<string, ZoneRecord[]>();
  for (const record of records) {
    const key = `${record.type} ${record.owner}`;
    sets.set(key, [...(sets.get(key) ?? []), record]);
  }
  return sets;
}

function textOf(set: readonly ZoneRecord[]): string {
  return set.map(({ ttl, rdata }) => `${ttl} ${Buffer.from(rdata).toString('hex')}`).join('\n');
}
