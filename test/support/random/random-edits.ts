// Random edits for proofs, with few names and destinations, so that they interact.

import fc from 'fast-check';
import type { Edit } from '../../../src/zone/edit/edit.ts';
import { type EditText, parseEdit, type RecordText } from '../../../src/zone/edit/parse-edit.ts';
import type { CustomerRecord } from '../../../src/zone/records/customer-record.ts';
import { type ApiType, isAddressLike } from '../../../src/zone/records/customer-types.ts';
import { wordsOf } from '../tests/rows-of.ts';
import { APEX, applied, editState } from '../zone/customer-records.ts';
import { planEdit } from '../zone/plan-edit.ts';

const NAMES = ['@', 'a', 'b', 's', 'x.s', 'y.x.s', 'y.a', '*', '*.s'];
const HOSTS = wordsOf(`
  x.s.example.com S.example.com y.a.example.com a.example.com Q\\046r.s.example.com NS.example.net
  ns.example.net`);
const DIGEST = '0'.repeat(64);

const destinations: Partial<Record<ApiType, readonly string[]>> = {
  A: ['192.0.2.1', '192.0.2.2', '192.0.2.3'],
  AAAA: ['2001:db8::1', '2001:db8::2'],
  TXT: ['x', 'y'],
  DS: [`1 13 2 ${DIGEST}`, `2 13 2 ${DIGEST}`],
  CNAME: HOSTS,
  ANAME: HOSTS,
  NS: HOSTS,
  MX: HOSTS,
  DNAME: HOSTS,
};
const ttl = fc.constantFrom(undefined, undefined, undefined, 60, 300, 900);

const content = (type: ApiType) =>
  fc.record({
    destination: fc.constantFrom(...(destinations[type] as string[])),
    mx_priority: fc.constant(type === 'MX' ? 10 : undefined),
    proxied: isAddressLike(type)
      ? fc.constantFrom(undefined, undefined, true, false)
      : fc.constant(undefined),
    comment: fc.constantFrom(undefined, 'c'),
  });
const id = fc.integer({ min: 1, max: 12 });
const items = <T>(one: fc.Arbitrary<T>) =>
  fc.oneof(fc.constant([]), fc.constant([]), fc.array(one, { minLength: 1, maxLength: 2 }));

export interface Made {
  readonly record: fc.Arbitrary<RecordText>;
  readonly replacement: fc.Arbitrary<NonNullable<EditText['replace']>[number]>;
  readonly edit: fc.Arbitrary<EditText>;
}

function madeOf(names: readonly string[], types: fc.Arbitrary<ApiType>): Made {
  const name = fc.constantFrom(...names);
  const record = types.chain((type) =>
    fc.tuple(name, ttl, content(type)).map(([name, t, c]) => ({ ...c, name, type, ttl: t })),
  );
  const replacement = types.chain((type) =>
    fc.record({
      name,
      type: fc.constant(type),
      ttl,
      records: fc.uniqueArray(content(type), {
        maxLength: 3,
        selector: (c) => c.destination.toLowerCase(),
      }),
    }),
  );
  const update = fc.oneof(
    record.chain((r) => id.map((i) => ({ ...r, id: i }))),
    fc.record({ id, name, ttl }),
    fc.record({ id, ttl, comment: fc.constantFrom('c', 'd', '') }),
  );
  const edit = fc.record({
    delete: items(id),
    update: items(update),
    replace: items(replacement),
    create: items(record),
  });
  return { record, replacement, edit };
}

export const anything = madeOf(
  NAMES,
  fc.constantFrom('A', 'A', 'A', 'AAAA', 'TXT', 'NS', 'NS', 'DS', 'CNAME', 'ANAME', 'MX'),
);
/** Mainly delegations and their glue. */
export const delegations = madeOf(
  ['a', 'y.a', 's', 'x.s', 'q\\046r.s'],
  fc.constantFrom('NS', 'NS', 'NS', 'NS', 'A', 'A', 'AAAA', 'TXT'),
);
/** DNAMEs, including the apex, and the records that they exclude. */
export const redirections = madeOf(
  ['@', 'a', 'y.a', 's', 'x.s', '*.s'],
  fc.constantFrom('DNAME', 'DNAME', 'DNAME', 'A', 'A', 'TXT', 'NS', 'CNAME'),
);

export function parsed(text: EditText): Edit {
  const result = parseEdit(text, APEX);
  if (result.kind === 'problems') throw new Error(JSON.stringify(result.problems));
  return result.edit;
}

export function stateOf(records: readonly CustomerRecord[]) {
  return editState([], { records, recordCount: records.length });
}

/** Returns the records that single creates from the list produce: a valid domain. */
export function domainOf(texts: readonly RecordText[]): CustomerRecord[] {
  let records: CustomerRecord[] = [];
  for (const text of texts) {
    const plan = planEdit(stateOf(records), parsed({ create: [text] }));
    if (plan.kind === 'change') records = applied(records, plan.ops, records.length + 1);
  }
  return records;
}

/** A domain and an edit that nearly always refers to existing records, each once. */
export function domainAndEditOf({ record, edit }: Made) {
  const made = fc.array(record, { minLength: 4, maxLength: 24 }).map(domainOf);
  return fc.tuple(made, edit).map(([records, text]): [CustomerRecord[], EditText] => {
    const free = records.map((r) => r.id);
    const take = (n: number) => free.splice(n % (free.length + 1), 1)[0] ?? 99;
    const update = (text.update ?? []).map((u) => ({ ...u, id: take(u.id) }));
    return [records, { ...text, update, delete: (text.delete ?? []).map(take) }];
  });
}
