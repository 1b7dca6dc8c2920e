import { expect, it } from 'vitest';
import { canCheck, movesOf } from '../../../../../console/src/screens/operator/domains/moves.ts';

const moves = (status: string, ...suspended_by: string[]) => movesOf({ status, suspended_by }).join(' ');

it('offers what the API would do, by the status', () => {
  expect(moves('pending')).toBe('approve disable suspend ban');
  expect(moves('unverified')).toBe('approve disable suspend ban');
  expect(moves('moved')).toBe('approve disable suspend ban');
  expect(moves('active')).toBe('disable suspend ban');
  expect(moves('disabled')).toBe('enable suspend ban');
  expect(moves('banned')).toBe('suspend unban');
});

it('ends a suspension of an operator only: that of a debt ends by itself', () => {
  expect(moves('active', 'operator', 'debt')).toBe('disable resume ban');
  expect(moves('active', 'debt')).toBe('disable suspend ban');
});

it('offers no check of what is switched off', () => {
  expect(canCheck({ status: 'moved', suspended_by: [] })).toBe(true);
  expect(canCheck({ status: 'disabled', suspended_by: [] })).toBe(false);
  expect(canCheck({ status: 'banned', suspended_by: [] })).toBe(false);
});
