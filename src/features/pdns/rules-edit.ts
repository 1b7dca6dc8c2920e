// Converts a list of changes to an edit of the current records.

import { foldCase, type Name } from '../../dns/name.ts';
import type { Edit, NewContent } from '../../zone/edit/edit.ts';
import { NO_EDIT } from '../../zone/edit/edit.ts';
import { type CustomerRecord, type RecordSettings, setKey } from '../../zone/records/customer-record.ts';
import { type ApiType, isAddressLike } from '../../zone/records/customer-types.ts';
import { groupBy } from '../../zone/records/group-by.ts';
import { rdataKey } from '../../zone/records/rdata-key.ts';
import type { SetChange } from './rules-rrsets.ts';

interface DraftSet {
  readonly name: Name;
  readonly type: ApiType;
  ttl: number | undefined;
  contents: readonly NewContent[];
  /** Index of the last change of the set. */
  index: number;
}

/**
 * Applies the changes in order. `held` are all records at the names of the changes. The edit also lists sets that do not
 * change, because the API key must cover them.
 */
export function editOf(changes: readonly SetChange[], held: readonly CustomerRecord[]): Edit {
  const heldSets = groupBy(held, ({ name, type }) => setKey(name, type));
  const sets = new Map<string, DraftSet>();
  for (const [index, change] of changes.entries()) {
    const { name, type } = change;
    const key = setKey(name, type);
    const before = (heldSets.get(key) ?? []).map(({ rdata }) => ({ rdata }));
    const set = sets.get(key) ?? { name, type, ttl: undefined, contents: before, index };
    set.contents = contentsAfter(change, set.contents);
    set.ttl = change.ttl ?? set.ttl;
    set.index = index;
    sets.set(key, set);
  }
  const edges = edgeSettings(held);
  const replaces = [...sets.entries()].map(([key, { name, type, ttl, contents, index }]) => {
    const edge = heldSets.has(key) || !isAddressLike(type) ? undefined : edges.get(name);
    return {
      name,
      type,
      index,
      ...(ttl !== undefined && { ttl }),
      records: edge === undefined ? contents : contents.map((content) => ({ ...edge, ...content })),
    };
  });
  return { ...NO_EDIT, replaces };
}

function contentsAfter(
  { change, type, records, comments }: SetChange,
  before: readonly NewContent[],
): readonly NewContent[] {
  if (change === 'REPLACE' || change === 'DELETE') {
    const contents = records === undefined ? before : records.map((rdata) => ({ rdata }));
    if (comments === undefined) return contents;
    return contents.map((content, i) => ({ ...content, comment: comments[i] || null }));
  }
  const given = new Map((records ?? []).map((rdata) => [rdataKey(type, rdata), rdata]));
  if (change === 'PRUNE') return before.filter(({ rdata }) => !given.has(rdataKey(type, rdata)));
  for (const { rdata } of before) given.delete(rdataKey(type, rdata));
  return [...before, ...[...given.values()].map((rdata) => ({ rdata }))];
}

/**
 * Returns the edge settings of the names at which all hosts are proxied. A set of another type that is added there gets the
 * same settings: PowerDNS has no such setting, and either all hosts of a name are proxied or none.
 */
function edgeSettings(held: readonly CustomerRecord[]): ReadonlyMap<Name, Partial<RecordSettings>> {
  const found = new Map<Name, Partial<RecordSettings>>();
  const others = new Set(
    held.filter(({ type, proxied }) => isAddressLike(type) && !proxied).map(({ name }) => name),
  );
  for (const { name, type, proxied, captcha, scheme, port, hostHeader, monitor, timeout } of held) {
    if (!isAddressLike(type) || others.has(name) || found.has(name)) continue;
    found.set(name, { proxied, captcha, scheme, port, hostHeader, monitor, timeout });
  }
  return found;
}

/** Returns true if two SOA contents are equal except for the serial. */
export function isSameSoa(one: string, other: string): boolean {
  const [a, b] = [one, other].map((text) => text.trim().split(/\s+/));
  if (a === undefined || b === undefined || a.length !== 7 || b.length !== 7) return false;
  return a.every((word, i) => i === 2 || word.toLowerCase() === b[i]?.toLowerCase());
}

/** Returns the names of all changes, without duplicates. */
export function namesOf(changes: readonly SetChange[]): Name[] {
  return [...new Set(changes.map(({ name }) => foldCase(name)))];
}
