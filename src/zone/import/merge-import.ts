// Merges an import into the existing records. The items of one name and type replace the rows there, row by row; TXT
// items are only added. An invalid item is left out, and the rest is tried without it:
//
//     edit → planEdit → problems → without(problems) → a smaller edit → planEdit → …

import type { Edit, EditProblem, NewRecord, RecordChange, RecordUpdate } from '../edit/edit.ts';
import { pairRecords } from '../edit/pair-records.ts';
import { type CustomerRecord, setKey } from '../records/customer-record.ts';
import type { ApiType } from '../records/customer-types.ts';
import { chooseLosers, type Written } from './choose-losers.ts';
import { keepPriorities } from './mx-priority.ts';
import type { ImportEntry, ReadImport } from './read-import.ts';

/** The rows and the items of one name and type. */
interface MergedSet {
  readonly type: ApiType;
  readonly entries: ImportEntry[];
  held: Held[];
}

interface Held {
  readonly before: CustomerRecord;
  readonly after: CustomerRecord;
}

const NONE: Held[] = [];

export class ImportMerge {
  /** Reasons why items were left out, by index. */
  readonly failed: Map<number, string>;
  readonly #sets = new Map<string, MergedSet>();
  readonly #incomplete: ReadonlySet<string>;
  /** The records that result from the items, by index. Recorded only if there are problems. */
  #written: Map<number, Written> | undefined;
  /** The sets by the index of each item. Undefined until it is needed. */
  #setOf: Map<number, MergedSet> | undefined;
  #edit: Edit;

  /** @param held every record at the names of the import */
  constructor({ entries, unread, incomplete }: ReadImport, held: readonly CustomerRecord[]) {
    this.failed = new Map(unread);
    this.#incomplete = incomplete;
    for (const entry of entries) {
      const { name, type } = entry;
      const key = setKey(name, type);
      const set = this.#sets.get(key);
      if (set === undefined) this.#sets.set(key, { type, entries: [entry], held: NONE });
      else set.entries.push(entry);
    }
    for (const record of held) {
      const set = this.#sets.get(setKey(record.name, record.type));
      if (set === undefined) continue;
      if (set.held === NONE) set.held = [];
      set.held.push({ before: record, after: record });
    }
    this.#edit = this.#build();
  }

  get edit(): Edit {
    return this.#edit;
  }

  /** Returns the edit without the items at fault. Returns undefined if no item is at fault. */
  without(problems: readonly EditProblem[]): Edit | undefined {
    const code = problems[0]?.code;
    const isOfItems = code === 'invalid' || code === 'plan_feature';
    if (!isOfItems && code !== 'conflict') return undefined;
    const written = this.#written ?? this.#noteWritten();
    const conflicts: EditProblem[] = [];
    for (const problem of problems) {
      if (problem.list === 'delete') this.#failSetOf(problem);
      else if (isOfItems || !written.has(problem.index)) this.#fail(problem.index, problem.message);
      else conflicts.push(problem);
    }
    const writtenBy = ({ index }: EditProblem) => written.get(index) as Written;
    for (const { index, message } of chooseLosers(conflicts, writtenBy)) this.#fail(index, message);
    this.#edit = this.#build();
    return this.#edit;
  }

  #fail(index: number, message: string): void {
    if (!this.failed.has(index)) this.failed.set(index, message);
  }

  /** Leaves out the whole set of an item: a remaining row cannot be deleted, so the set must stay unchanged. */
  #failSetOf({ index, message }: EditProblem): void {
    this.#setOf ??= this.#indexSets();
    for (const { index: each } of this.#setOf.get(index)?.entries ?? []) this.#fail(each, message);
  }

  #indexSets(): Map<number, MergedSet> {
    const sets = new Map<number, MergedSet>();
    for (const set of this.#sets.values()) for (const { index } of set.entries) sets.set(index, set);
    return sets;
  }

  #noteWritten(): Map<number, Written> {
    const written = new Map<number, Written>();
    this.#written = written;
    this.#build();
    return written;
  }

  #build(): Edit {
    const creates: (NewRecord & { index: number })[] = [];
    const updates: (RecordUpdate & { index: number })[] = [];
    const deletes: { id: number; index: number }[] = [];
    this.#written?.clear();
    for (const [key, { type, entries, held }] of this.#sets) {
      const left = this.failed.size === 0 ? entries : entries.filter(({ index }) => !this.failed.has(index));
      const [first] = left;
      if (first === undefined) continue;
      if (type === 'TXT') {
        for (const entry of left) creates.push(Object.assign(this.#note(entry), { allowEqualTxt: true }));
        continue;
      }
      if (held.length === 0) {
        for (const entry of left) creates.push(this.#note(entry));
        continue;
      }
      const whole = type === 'MX' ? keepPriorities(held, left) : left;
      const wasProxied = held.every(({ before }) => before.proxied);
      const { pairs, added, leftOver } = pairRecords(type, held, whole);
      for (const { content, row } of pairs) {
        const { name, proxied } = row.before;
        this.#written?.set(content.index, { name, type, proxied, isNew: false });
        updates.push({ id: row.before.id, set: changeOfRow(content), index: content.index });
      }
      for (const { content } of added) {
        // as in a replacement: if `proxied` is omitted, new records of a proxied set are proxied too
        creates.push(this.#note({ ...content, proxied: content.proxied ?? wasProxied }));
      }
      if (left.length < entries.length || this.#incomplete.has(key)) continue;
      for (const { before } of leftOver) deletes.push({ id: before.id, index: first.index });
    }
    creates.sort((a, b) => a.index - b.index); // assigns ids in the order of the list
    return { deletes, replaces: [], updates, creates };
  }

  #note(record: ImportEntry): ImportEntry {
    const { name, type, proxied = false, index } = record;
    this.#written?.set(index, { name, type, proxied, isNew: true });
    return record;
  }
}

/** The row keeps its proxied flag and its origin settings, which a zone file does not contain. */
function changeOfRow({ rdata, ttl, destCountry, comment }: NewRecord): RecordChange {
  return {
    rdata,
    ...(ttl !== undefined && { ttl }),
    ...(destCountry !== undefined && { destCountry }),
    ...(comment !== undefined && { comment }),
  };
}
