import { describe, expect, it } from 'vitest';
import { planListings, type StoredListing } from '../../../src/zone/catalog/plan-members.ts';
import { memberLabel } from '../../../src/zone/catalog/print-catalog.ts';
import { rowsOf, wordsOf } from '../../support/tests/rows-of.ts';

/** Reads a listing: `CATALOG:LABEL[:coo=CATALOG][:over]`. */
function listing(text: string): StoredListing {
  const [catalogId, label = '', ...more] = text.split(':');
  const coo = more.find((each) => each.startsWith('coo='))?.slice(4);
  return {
    catalogId: Number(catalogId),
    label,
    group: null,
    coo: coo ? Number(coo) : undefined,
    isOver: more.includes('over'),
  };
}

// `new` is the label that a zone gets.
describe('the listings of a zone', () => {
  it.each(
    rowsOf(`
a new member            | wanted 1          |                          | 1:new
no catalog selects it   | wanted -          | 1:a 2:a:coo=1            |
an unchanged member     | wanted 1          | 1:a                      | 1:a
a deleted zone          | wanted 1 replaced | 1:a 2:a:coo=1            | 1:new
announced               | wanted 2          | 1:a                      | 1:a:coo=2 unfinished
moved                   | wanted 2          | 1:a:coo=2                | 2:a 1:a:coo=2
after an hour           | wanted 2          | 2:a 1:a:coo=2:over       | 2:a
back within the hour    | wanted 1          | 2:a 1:a:coo=2            | 2:a:coo=1 1:a:coo=2 unfinished
back, announced         | wanted 1          | 2:a:coo=1 1:a:coo=2      | 1:a 2:a:coo=1
on to a third           | wanted 3          | 2:a 1:a:coo=2            | 2:a:coo=3 1:a:coo=2 unfinished
another one before      | wanted 3          | 1:a:coo=2                | 1:a:coo=3 unfinished
not moved after all     | wanted 1          | 1:a:coo=2                | 1:a
its catalog was removed | wanted 3          | 1:a:coo=9:over           | 1:a:coo=3 unfinished
full                    | wanted 7          |                          |
full, member            | wanted 7          | 7:a                      | 7:a
full, replaced          | wanted 7 replaced | 7:a                      | 7:new
full, of another        | wanted 7          | 1:a 2:a:coo=1            | 1:a 2:a:coo=1
full, announced         | wanted 7          | 1:a:coo=7                | 1:a`),
  )('%s: %s', (_, zone = '', stored, expected) => {
    const [, to = '-', isReplaced] = wordsOf(zone);
    const wanted = to === '-' ? undefined : { catalogId: Number(to), group: null };
    const planned = planListings(
      { id: 5, version: 9, wanted, isReplaced: isReplaced !== undefined },
      wordsOf(stored ?? '')
        .filter((each) => each !== '')
        .map(listing),
      (id) => id === 7,
    );
    const shown = planned.listings.map(({ catalogId, label, coo }) =>
      [
        catalogId,
        label === memberLabel(5, 9) ? 'new' : label,
        ...(coo === undefined ? [] : [`coo=${coo}`]),
      ].join(':'),
    );
    expect([...shown, ...(planned.isUnfinished ? ['unfinished'] : [])].join(' ')).toBe(expected ?? '');
  });
});
