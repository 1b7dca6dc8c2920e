// Computes the effect of an import. The items of one name and type are a new record set: existing records take the items' values,
// equal values first, and remaining records are removed. TXT records are only added.

import { type Difference, difference } from './diff.ts';
import { fieldsThatDiffer, type KeptRecord, type RecordFields, type Typed, typedOf } from './typed.ts';

export function importDifferences(
  records: readonly KeptRecord[],
  items: readonly RecordFields[],
  domain: string,
): Difference[] {
  const sets = new Map<string, RecordFields[]>();
  for (const item of items) {
    const key = setKey(item, domain);
    sets.set(key, [...(sets.get(key) ?? []), item]);
  }
  const there = new Map<string, KeptRecord[]>();
  for (const record of records) {
    const key = setKey(record, domain);
    if (sets.has(key) && record.editable) there.set(key, [...(there.get(key) ?? []), record]);
  }
  return [...sets].flatMap(([key, wanted]) => setDifferences(key, there.get(key) ?? [], wanted));
}

function setDifferences(
  key: string,
  kept: readonly KeptRecord[],
  wanted: readonly RecordFields[],
): Difference[] {
  const isAdding = wanted[0]?.type === 'TXT';
  const left = [...kept];
  const found: Difference[] = [];
  const rest: RecordFields[] = [];
  for (const item of wanted) {
    const at = left.findIndex((record) => sameValue(record, item));
    const [record] = at === -1 ? [] : left.splice(at, 1);
    if (record === undefined) rest.push(item);
    else if (!isAdding) push(found, record, item);
  }
  rest.forEach((item, i) => {
    const record = isAdding ? undefined : left.shift();
    if (record === undefined) found.push(difference(`${key} + ${i}`, undefined, typedOf(item)));
    else push(found, record, item);
  });
  if (!isAdding)
    for (const record of left) found.push(difference(String(record.id), typedOf(record), undefined));
  return found;
}

function push(found: Difference[], record: KeptRecord, item: RecordFields): void {
  const before = typedOf(record);
  const after = over(before, item);
  if (fieldsThatDiffer(before, after).length > 0) found.push(difference(String(record.id), before, after));
}

/** A record keeps its proxy settings and the fields that the item does not specify. */
function over(before: Typed, item: RecordFields): Typed {
  const { destination, mx_priority, ttl, comment } = typedOf(item);
  return {
    ...before,
    destination,
    mx_priority: mx_priority === '' ? before.mx_priority : mx_priority,
    ttl: ttl === '' ? before.ttl : ttl,
    comment: comment === '' ? before.comment : comment,
  };
}

function sameValue(record: RecordFields, item: RecordFields): boolean {
  const isPriority = item.mx_priority === undefined || item.mx_priority === record.mx_priority;
  return isPriority && bare(record.destination) === bare(item.destination);
}

function bare(destination: string): string {
  return destination.toLowerCase().replace(/\.$/, '');
}

function setKey({ name, type }: RecordFields, domain: string): string {
  const lower = name.toLowerCase().replace(/\.$/, '');
  const relative =
    lower === domain ? '@' : lower.endsWith(`.${domain}`) ? lower.slice(0, -domain.length - 1) : lower;
  return `${relative} ${type}`;
}
