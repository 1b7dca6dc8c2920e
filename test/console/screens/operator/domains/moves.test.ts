import { expect, it } from 'vitest';
import { canCheck, movesOf } from '../../../../../console/src/screens/operator/domains/moves.ts';

const managed = (status: string, ...suspended_by: string[]) => ({
  status,
  dns_mode: 'managed' as const,
  suspended_by,
});
const external = (status: string, served: string) => ({
  status,
  dns_mode: 'external' as const,
  served,
  suspended_by: [],
});
const moves = (status: string, ...by: string[]) => movesOf(managed(status, ...by)).join(' ');

it('offers what the API would do, by the status', () => {
  expect(moves('pending')).toBe('approve disable suspend ban');
  expect(moves('moved')).toBe('approve disable suspend ban');
  expect(moves('active')).toBe('disable suspend ban');
  expect(moves('disabled')).toBe('enable suspend ban');
  expect(moves('banned')).toBe('suspend unban');
});

it('ends a suspension of an operator only: that of a debt ends by itself', () => {
  expect(moves('active', 'operator', 'debt')).toBe('disable resume ban');
  expect(moves('active', 'debt')).toBe('disable suspend ban');
});

it('approves nothing in external mode, where no delegation proves it', () => {
  expect(movesOf(external('unverified', 'none')).join(' ')).toBe('disable suspend ban');
});

it('offers no check of what is switched off or only elsewhere', () => {
  expect(canCheck(managed('moved'))).toBe(true);
  expect(canCheck(managed('disabled'))).toBe(false);
  expect(canCheck(managed('banned'))).toBe(false);
  expect(canCheck(external('active', 'full'))).toBe(true);
  expect(canCheck(external('unverified', 'none'))).toBe(false);
});
