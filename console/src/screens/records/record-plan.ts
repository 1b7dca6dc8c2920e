// Changes that a wizard or a template makes to the records. They are shown first, and then put into the draft.

import { type Difference, difference } from './diff.ts';
import { addRow, type Draft, deleteRows, editRow, type RowKey } from './draft.ts';
import { relativeName } from './owner-name.ts';
import type { Row } from './rows.ts';
import { canBeProxied, type KeptRecord, NEW_RECORD, type Typed } from './typed.ts';

type Wanted = Pick<Typed, 'name' | 'type' | 'destination'> & Partial<Typed>;

export class RecordPlan {
  readonly #rows: readonly Row[];
  readonly #domain: string;
  readonly #removed = new Set<RowKey>();
  readonly #updated = new Map<RowKey, Partial<Typed>>();
  readonly #added: Typed[] = [];

  /** `rows` are all rows of the domain, with the draft applied. */
  constructor(rows: readonly Row[], domain: string) {
    this.#rows = rows.filter(({ state, record }) => state !== 'deleted' && record?.editable !== false);
    this.#domain = domain;
  }

  /** Returns the rows at a name, with this type if it is given, except those that the plan removes. */
  at(name: string, type?: string): Row[] {
    const wanted = this.#relative(name);
    return this.#rows.filter(
      ({ key, typed }) =>
        !this.#removed.has(key) &&
        this.#relative(typed.name) === wanted &&
        (type === undefined || typed.type === type),
    );
  }

  /** Returns the records after the changes, with relative names. */
  after(): Typed[] {
    const kept = this.#rows.filter(({ key }) => !this.#removed.has(key));
    const typed = kept.map((row) => ({ ...row.typed, ...this.#updated.get(row.key) }));
    return [...typed, ...this.#added].map((each) => ({ ...each, name: this.#relative(each.name) }));
  }

  remove(row: Row): void {
    this.#removed.add(row.key);
  }

  update(row: Row, set: Partial<Typed>): void {
    this.#updated.set(row.key, set);
  }

  /** Adds a record unless it exists. */
  add(wanted: Wanted): void {
    this.#makeRoom(wanted);
    const isThere = [...this.at(wanted.name, wanted.type).map(({ typed }) => typed), ...this.#added].some(
      (typed) => this.#relative(typed.name) === this.#relative(wanted.name) && isSame(typed, wanted),
    );
    if (!isThere) this.#added.push({ ...NEW_RECORD, ...wanted });
  }

  /**
   * Makes the records of these types at a name exactly the wanted ones. A record that can be proxied gets the new value instead of
   * being replaced, so that it keeps its settings.
   */
  replace(name: string, types: readonly string[], wanted: readonly Wanted[]): void {
    const old = this.at(name).filter(
      ({ typed }) => types.includes(typed.type) && !wanted.some((each) => isSame(typed, each)),
    );
    const missing = wanted.filter((each) => !this.at(name).some(({ typed }) => isSame(typed, each)));
    const added = missing.filter((each) => {
      const at = canBeProxied(each.type) ? old.findIndex(({ typed }) => typed.type === each.type) : -1;
      const [row] = at === -1 ? [] : old.splice(at, 1);
      if (row !== undefined) this.update(row, { destination: each.destination });
      return row === undefined;
    });
    for (const row of old) this.remove(row);
    for (const each of wanted) this.#makeRoom(each);
    for (const each of added) this.add(each);
  }

  /** A CNAME must be the only record of its name (RFC 1034 §3.6.2). */
  #makeRoom({ name, type }: Wanted): void {
    for (const row of this.at(name))
      if (type !== row.typed.type && [type, row.typed.type].includes('CNAME')) this.remove(row);
  }

  differences(): Difference[] {
    const changed = this.#rows.flatMap(({ key, typed }) => {
      const set = this.#updated.get(key);
      if (this.#removed.has(key)) return [difference(key, typed, undefined)];
      return set === undefined ? [] : [difference(key, typed, { ...typed, ...set })];
    });
    const added = this.#added.map((typed, i) => difference(`+ ${i}`, undefined, typed));
    return [...changed.filter(({ op, fields }) => op !== 'update' || fields.length > 0), ...added];
  }

  #relative(name: string): string {
    return relativeName(name, this.#domain);
  }
}

function isSame(a: Wanted, b: Wanted): boolean {
  const isText = a.type === 'TXT';
  const bare = (text: string) => (isText ? text : text.toLowerCase().replace(/\.$/, ''));
  return (
    a.type === b.type &&
    bare(a.destination) === bare(b.destination) &&
    (a.type !== 'MX' || a.mx_priority === b.mx_priority)
  );
}

/** Puts the differences into the draft. New rows keep their order. */
export function applyDifferences(
  draft: Draft,
  differences: readonly Difference[],
  byId: ReadonlyMap<RowKey, KeptRecord>,
): Draft {
  let next = draft;
  for (const { key, op, after } of differences) {
    if (op === 'delete') next = deleteRows(next, [key], byId);
    else if (op === 'update' && after !== undefined) next = editRow(next, key, byId.get(key), after);
  }
  for (const { op, after } of [...differences].reverse())
    if (op === 'create' && after !== undefined) next = addRow(next, after);
  return next;
}
