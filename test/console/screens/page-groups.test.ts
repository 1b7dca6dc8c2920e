// The pages of a domain and their groups.

import { expect, it } from 'vitest';
import { GROUPS, pageAt } from '../../../console/src/screens/domain/page-groups.ts';
import { words } from '../../../console/src/words/words.ts';

it('each page with a title is in one group', () => {
  expect(Object.values(GROUPS).flat().sort()).toEqual(Object.keys(words.domain.pages).sort());
});

it('finds the page and the group of a path below a domain', () => {
  expect(pageAt('records/import')).toEqual({ page: 'records', group: 'dns' });
  expect(pageAt('delegation')).toEqual({ page: 'delegation', group: 'start' });
  expect([pageAt(''), pageAt('constructor')]).toEqual([undefined, undefined]);
});
