// Prepares the search for warnings of an edit: the records to check, the names to load, and the domain after the edit.

import { isWithin, type Name, parentOf, ROOT, wildcardBelow } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordOperation } from '../edit/plan-edit.ts';
import type { CustomerRecord, RecordValue } from '../records/customer-record.ts';
import { wireTypeCode } from '../records/customer-types.ts';
import { rdataKey } from '../records/rdata-key.ts';
import { namesBetween } from '../records/record-name.ts';
import { hostOf, type JudgedRecord, ZoneIndex } from './zone-view.ts';

/** Returns the record as it is answered: an ANAME and a proxied CNAME are answered with addresses. */
function asAnswered({ name, type, rdata, proxied }: RecordValue): JudgedRecord {
  const hasAddresses = type === 'ANAME' || (proxied && type === 'CNAME');
  return { owner: name, type: hasAddresses ? TYPE.A : wireTypeCode(type), rdata, shownType: type };
}

/** Returns the records that the operations write, except those with only a new TTL or new settings. */
export function recordsToJudge(ops: readonly RecordOperation[]): JudgedRecord[] {
  const judged: JudgedRecord[] = [];
  for (const op of ops) {
    if (op.op === 'delete' || (op.op === 'update' && isSame(op.before, op.after))) continue;
    judged.push(asAnswered(op.after));
  }
  return judged;
}

/** Lists the names that lost their addresses or became a CNAME. `zone` has all records at the operations' names. */
export function brokenHosts(zone: EditedZone, ops: readonly RecordOperation[]): Name[] {
  const hosts = new Set<Name>();
  const formerAliases = new Set<Name>();
  for (const op of ops) {
    if (op.op === 'create') continue;
    const { owner, type } = asAnswered(op.before);
    if (type === TYPE.A || type === TYPE.AAAA) hosts.add(owner);
    if (type === TYPE.CNAME) formerAliases.add(owner);
  }
  for (const op of ops) {
    if (op.op === 'delete' || op.after.type !== 'CNAME' || op.after.proxied) continue;
    if (!formerAliases.has(op.after.name)) hosts.add(op.after.name);
  }
  const has = (name: Name, type: number) => zone.rdataAt(name, type) !== undefined;
  return [...hosts].filter((name) => !has(name, TYPE.A) && !has(name, TYPE.AAAA));
}

/** Returns the records that no operation writes. Only their hosts are checked. */
export function unwrittenRecords(
  naming: readonly CustomerRecord[],
  ops: readonly RecordOperation[],
): JudgedRecord[] {
  const written = new Set(
    ops.flatMap((op) =>
      op.op === 'create' || (op.op === 'update' && isSame(op.before, op.after)) ? [] : [op.before.id],
    ),
  );
  return naming.flatMap((record) =>
    written.has(record.id) ? [] : [{ ...asAnswered(record), onlyHost: true }],
  );
}

function isSame(a: RecordValue, b: RecordValue): boolean {
  return a.name === b.name && a.type === b.type && rdataKey(a.type, a.rdata) === rdataKey(b.type, b.rdata);
}

/** Lists the names, besides its own, whose records must be known to check a record. */
export function* namesBeside(record: JudgedRecord, apex: Name): Generator<Name> {
  if (record.onlyHost !== true) yield* wildcardsAbove(parentOf(record.owner), apex);
  const host = hostOf(record);
  if (host === undefined || host === ROOT || host === apex || !isWithin(host, apex)) return;
  for (let name = host; name !== apex; name = parentOf(name)) yield name;
  yield* wildcardsAbove(host, apex);
}

/** Returns the names, besides their own, whose records must be known to check the records. */
export function namesBesideAll(records: readonly JudgedRecord[], apex: Name): Set<Name> {
  const names = new Set<Name>();
  const parents = new Set<Name>();
  for (const record of records) {
    const parent = parentOf(record.owner);
    // An import has thousands of records with the same parent, and the same wildcards above it.
    if (parents.has(parent) && hostOf(record) === undefined) continue;
    if (record.onlyHost !== true) parents.add(parent);
    for (const name of namesBeside(record, apex)) names.add(name);
  }
  return names;
}

/** Lists the wildcards that could match the name. */
function* wildcardsAbove(from: Name, apex: Name): Generator<Name> {
  for (let name = from; name !== apex && isWithin(name, apex); name = parentOf(name)) {
    const wildcard = wildcardBelow(parentOf(name));
    if (wildcard !== undefined) yield wildcard;
  }
}

/** The domain after the edit, as far as it is known. */
export class EditedZone extends ZoneIndex {
  /** The names that existed before the edit, among those that it may hide. */
  #former: ReadonlySet<Name> = new Set();

  /** @param known the records before the edit */
  constructor(apex: Name, known: readonly CustomerRecord[], ops: readonly RecordOperation[]) {
    super(apex);
    const after = new Map<unknown, RecordValue>(known.map((record) => [record.id, record]));
    for (const op of ops) {
      if (op.op === 'create') after.set(op, op.after);
      else if (op.op === 'delete') after.delete(op.before.id);
      else after.set(op.before.id, op.after);
    }
    for (const record of after.values()) this.add(asAnswered(record));
  }

  /** Adds records at names that the operations do not touch. */
  addKnown(records: readonly RecordValue[]): void {
    for (const record of records) this.add(asAnswered(record));
  }

  /** Lists the names without records that may exist only because of the edit, and would otherwise match a wildcard. */
  namesToHide(written: readonly JudgedRecord[]): Set<Name> {
    const names = new Set<Name>();
    if (!this.hasWildcards) return names;
    for (const { owner } of written) {
      for (const name of namesBetween(owner, this.apex)) {
        const wildcard = wildcardBelow(parentOf(name));
        const matches = wildcard !== undefined && this.hasRecords(wildcard);
        if (matches && !this.hasRecords(name)) names.add(name);
      }
    }
    return names;
  }

  /** @param names those of `namesToHide` that existed before the edit */
  setFormerNames(names: ReadonlySet<Name>): void {
    this.#former = names;
  }

  override isNew(name: Name): boolean {
    return !this.#former.has(name);
  }
}
