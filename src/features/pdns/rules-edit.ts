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
  /** Contents by their rdata, in order. */
  readonly contents: Map<string, NewContent>;
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
    const set = sets.get(key) ?? {
      name,
      type,
      ttl: undefined,
      contents: contentsOf(heldSets.get(key)),
      index,
    };
    applyChange(set, change);
    set.ttl = change.ttl ?? set.ttl;
    set.index = index;
    sets.set(key, set);
  }
  const edges = edgeSettings(held);
  const replaces = [...sets.entries()].map(([key, { name, type, ttl, contents: byRdata, index }]) => {
    const contents = [...byRdata.values()];
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

function contentsOf(held: readonly CustomerRecord[] = []): Map<string, NewContent> {
  return new Map(held.map(({ type, rdata }) => [rdataKey(type, rdata), { rdata }]));
}

function applyChange({ type, contents }: DraftSet, { change, records, comments }: SetChange): void {
  const isWhole = change === 'REPLACE' || change === 'DELETE';
  if (isWhole && records !== undefined) contents.clear();
  for (const rdata of records ?? []) {
    const key = rdataKey(type, rdata);
    if (change === 'PRUNE') contents.delete(key);
    else if (!contents.has(key)) contents.set(key, { rdata });
  }
  if (comments === undefined) return;
  for (const [i, [key, content]] of [...contents].entries())
    contents.set(key, { ...content, comment: comments[i] || null });
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
