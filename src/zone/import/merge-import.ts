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
  readonly held: { readonly before: CustomerRecord; readonly after: CustomerRecord }[];
}

export class ImportMerge {
  /** Reasons why items were left out, by index. */
  readonly failed: Map<number, string>;
  readonly #sets = new Map<string, MergedSet>();
  readonly #incomplete: ReadonlySet<string>;
  readonly #byIndex = new Map<number, ImportEntry>();
  #written = new Map<number, Written>();
  #edit: Edit;

  /** @param held every record at the names of the import */
  constructor({ entries, unread, incomplete }: ReadImport, held: readonly CustomerRecord[]) {
    this.failed = new Map(unread);
    this.#incomplete = incomplete;
    for (const entry of entries) {
      const { name, type, index } = entry;
      this.#byIndex.set(index, entry);
      const key = setKey(name, type);
      const set = this.#sets.get(key);
      if (set === undefined) this.#sets.set(key, { type, entries: [entry], held: [] });
      else set.entries.push(entry);
    }
    for (const record of held) {
      this.#sets.get(setKey(record.name, record.type))?.held.push({ before: record, after: record });
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
    const conflicts: EditProblem[] = [];
    for (const problem of problems) {
      if (problem.list === 'delete') this.#failSetOf(problem);
      else if (isOfItems || !this.#written.has(problem.index)) this.#fail(problem.index, problem.message);
      else conflicts.push(problem);
    }
    const writtenBy = ({ index }: EditProblem) => this.#written.get(index) as Written;
    for (const { index, message } of chooseLosers(conflicts, writtenBy)) this.#fail(index, message);
    this.#edit = this.#build();
    return this.#edit;
  }

  #fail(index: number, message: string): void {
    if (!this.failed.has(index)) this.failed.set(index, message);
  }

  /** Leaves out the whole set of an item: a remaining row cannot be deleted, so the set must stay unchanged. */
  #failSetOf({ index, message }: EditProblem): void {
    const entry = this.#byIndex.get(index);
    const set = entry === undefined ? undefined : this.#sets.get(setKey(entry.name, entry.type));
    for (const { index: each } of set?.entries ?? []) this.#fail(each, message);
  }

  #build(): Edit {
    const creates: (NewRecord & { index: number })[] = [];
    const updates: (RecordUpdate & { index: number })[] = [];
    const deletes: { id: number; index: number }[] = [];
    this.#written = new Map();
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
        this.#written.set(content.index, { name, type, proxied, isNew: false });
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
    this.#written.set(index, { name, type, proxied, isNew: true });
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
