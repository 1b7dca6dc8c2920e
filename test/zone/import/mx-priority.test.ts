import { expect, it } from 'vitest';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { ImportMerge } from '../../../src/zone/import/merge-import.ts';
import { readImport } from '../../../src/zone/import/read-import.ts';
import { itemsOf, rowsOf } from '../../support/tests/rows-of.ts';
import { APEX, editState, showOperation } from '../../support/zone/customer-records.ts';
import { planEdit } from '../../support/zone/plan-edit.ts';

/** Items as `host` or `priority host`. */
function importMx(before: readonly string[], items: readonly string[]): string[] {
  const state = editState(before);
  const read = inOneGo(
    readImport(
      items.map((item) => {
        const [host, priority] = item.split(' ').toReversed() as [string, string | undefined];
        const given = priority === undefined ? {} : { mx_priority: Number(priority) };
        return { name: '@', type: 'MX', destination: host, ...given };
      }),
      APEX,
    ),
  );
  expect([...read.unread]).toEqual([]);
  const planned = planEdit(state, new ImportMerge(read, state.records).edit);
  if (planned.kind !== 'change') throw new Error(JSON.stringify(planned.problems));
  return planned.ops.map(showOperation);
}

it.each(
  rowsOf(`
has 10 where nothing stood | | a.example.net | + @ 300 MX 10 a.example.net
has 10 beside the rows that others take | @ MX 20 a.example.net | a.example.net / b.example.net | + @ 300 MX 10 b.example.net
changes nothing for the host that is there | @ MX 20 a.example.net | a.example.net. |
keeps that of the row that it takes the place of | @ MX 20 a.example.net | b.example.net | ~ 1: @ 300 MX 20 b.example.net
keeps that of its own host, whatever the order | @ MX 20 a.example.net / @ MX 30 b.example.net | b.example.net / a.example.net |
takes no row that another item names in full | @ MX 20 a.example.net / @ MX 30 a.example.net | a.example.net / 20 a.example.net |
gives way to one that is said | @ MX 20 a.example.net | 0 a.example.net | ~ 1: @ 300 MX 0 a.example.net`),
)('an imported MX without a priority %s', (_, before, items, ops) => {
  expect(importMx(itemsOf(before), itemsOf(items))).toEqual(itemsOf(ops));
});
