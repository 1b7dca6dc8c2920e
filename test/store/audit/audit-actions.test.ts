import { expect, it } from 'vitest';
import { actionOfChange } from '../../../src/store/audit/audit-actions.ts';

const move = { from: 'pending', to: 'active' };
const same = { from: 'active', to: 'active' };

it.each([
  ['create', 'key', { from: null, to: 'pending' }, 'domain.create'],
  ['edit', 'session', undefined, 'records.edit'],
  ['edit', 'system', undefined, 'records.edit'],
  ['status', 'session', move, 'domain.status'],
  ['status', 'system', move, 'domain.status'],
  ['status', 'cli', same, 'domain.status'],
  ['status', 'system', same, undefined],
  ['nameservers', 'key', undefined, 'domain.nameservers'],
  ['nameservers', 'system', undefined, undefined],
  ['delete', 'key', { from: 'active', to: null }, 'domain.delete'],
  ['restore', 'cli', { from: null, to: 'pending' }, 'domain.restore'],
  ['settings', 'cli', undefined, undefined],
  ['addresses', 'system', undefined, undefined],
] as const)('%s by %s with %o', (operation, actor, status, action) => {
  expect(actionOfChange({ operation, actor, status })).toBe(action);
});
