// The warnings of an edit: about the records that it writes, by what the domain has in the end.

import { foldCase, isWithin, type Name, nameInRdata, parentOf, ROOT, wildcardBelow } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { RecordOperation } from '../edit/plan-edit.ts';
import type { CustomerRecord, RecordValue } from '../records/customer-record.ts';
import { wireTypeCode } from '../records/customer-types.ts';
import { rdataKey } from '../records/rdata-key.ts';
import { type JudgedRecord, ZoneIndex } from './zone-view.ts';

/** The record as it is answered: an ANAME, and whatever is proxied, has addresses. */
function asAnswered({ name, type, rdata, proxied }: RecordValue): JudgedRecord {
  const answered = type === 'ANAME' || (proxied && type === 'CNAME') ? TYPE.A : wireTypeCode(type as 'A');
  return { owner: name, type: answered, rdata };
}

/** The records that the operations write, without those of which only a setting or the TTL differs. */
export function recordsWritten(ops: readonly RecordOperation[]): JudgedRecord[] {
  return ops.flatMap((op) => {
    if (op.op === 'delete') return [];
    return op.op === 'update' && isSame(op.before, op.after) ? [] : [asAnswered(op.after)];
  });
}

function isSame(a: RecordValue, b: RecordValue): boolean {
  return a.name === b.name && a.type === b.type && rdataKey(a.type, a.rdata) === rdataKey(b.type, b.rdata);
}

/** The names whose records have to be known to judge a record, besides its own. */
export function* namesBeside({ owner, type, rdata }: JudgedRecord, apex: Name): Generator<Name> {
  yield* wildcardsAbove(parentOf(owner), apex);
  const from = HOST_FROM.get(type);
  if (from === undefined) return;
  const host = foldCase(nameInRdata(rdata, from));
  if (host === ROOT || host === apex || !isWithin(host, apex)) return;
  for (let name = host; name !== apex; name = parentOf(name)) yield name;
  yield* wildcardsAbove(host, apex);
}

const HOST_FROM: ReadonlyMap<number, number> = new Map([
  [TYPE.NS, 0],
  [TYPE.MX, 2],
  [TYPE.SRV, 6],
]);

/** The wildcards that could match the name. */
function* wildcardsAbove(from: Name, apex: Name): Generator<Name> {
  for (let name = from; name !== apex && isWithin(name, apex); name = parentOf(name)) {
    const wildcard = wildcardBelow(parentOf(name));
    if (wildcard !== undefined) yield wildcard;
  }
}

/** The domain after the edit, as far as it is known. */
export class EditedZone extends ZoneIndex {
  #former: ReadonlySet<Name> = new Set();

  /** `known` are the records before the edit. */
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

  /** Whether it matters which names existed before: a wildcard could lose a name that has no records. */
  needsFormerNames(written: readonly JudgedRecord[]): boolean {
    if (!this.hasWildcards) return false;
    return written.some(({ owner }) => owner !== this.apex && parentOf(owner) !== this.apex);
  }

  /** The owners before the edit. */
  set formerOwners(owners: Iterable<Name>) {
    const former = new Set<Name>();
    for (const owner of owners) {
      for (let name = owner; name !== this.apex && !former.has(name); name = parentOf(name)) former.add(name);
    }
    this.#former = former;
  }

  override isNew(name: Name): boolean {
    return !this.#former.has(name);
  }
}
