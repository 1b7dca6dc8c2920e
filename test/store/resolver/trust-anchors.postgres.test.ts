import { expect, it } from 'vitest';
import type { RolledAnchor } from '../../../src/checks/validation/roll-anchors.ts';
import { loadAnchors, rollSavedAnchors } from '../../../src/store/resolver/trust-anchors.ts';
import { sharedDatabase } from '../../support/tests/shared-database.ts';

const { db } = sharedDatabase();

const CONFIGURED = [Uint8Array.of(1), Uint8Array.of(2, 3)];
const anchor = (octet: number, state: RolledAnchor['state'], since = octet * 1000): RolledAnchor => ({
  key: Uint8Array.of(octet),
  state,
  since,
});

it('stored anchors are loaded for configured records in any order, and concurrent workers roll one after the other', async () => {
  const all = [anchor(1, 'valid'), anchor(2, 'pending'), anchor(3, 'missing'), anchor(4, 'revoked')];
  expect(await rollSavedAnchors(db, CONFIGURED, () => all)).toEqual(all);
  expect(await loadAnchors(db, [...CONFIGURED].reverse())).toEqual(all);
  await rollSavedAnchors(db, CONFIGURED, (before) => before.slice(1));
  expect(await loadAnchors(db, CONFIGURED)).toEqual(all.slice(1));
  await rollSavedAnchors(db, CONFIGURED, () => []);
  expect(await loadAnchors(db, CONFIGURED)).toEqual([]);
  const add = (octet: number) =>
    rollSavedAnchors(db, CONFIGURED, (before) => [...before, anchor(octet, 'pending')]);
  await Promise.all([1, 2, 3, 4, 5].map(add));
  expect(await loadAnchors(db, CONFIGURED)).toHaveLength(5);
});

it('other configured records start without anchors, and do not change those of others', async () => {
  await rollSavedAnchors(db, CONFIGURED, () => [anchor(1, 'valid')]);
  const others = [Uint8Array.of(1, 2), Uint8Array.of(3)];
  expect(await loadAnchors(db, others)).toEqual([]);
  await rollSavedAnchors(db, others, () => [anchor(9, 'valid')]);
  expect(await loadAnchors(db, CONFIGURED)).toEqual([anchor(1, 'valid')]);
});
