import { describe, expect, it } from 'vitest';
import { mayDo, permissionsOf, ROLES } from '../../../src/api/callers/permissions.ts';

describe('roles', () => {
  it.each([
    ['viewer', 'domain.view analytics.view'],
    ['editor', 'domain.view records.edit rules.edit cache.edit analytics.view'],
    [
      'admin',
      'domain.view domain.settings records.edit rules.edit cache.edit ssl.manage analytics.view members.manage',
    ],
    [
      'owner',
      'domain.view domain.settings domain.delete dnssec.keys records.edit rules.edit cache.edit ssl.manage analytics.view billing members.manage',
    ],
  ] as const)('%s may %s', (role, permissions) => {
    expect(permissionsOf(role)).toEqual(permissions.split(' '));
    for (const permission of permissionsOf('owner'))
      expect(mayDo(role, permission)).toBe(permissions.split(' ').includes(permission));
  });

  it('each may do what the next lower one may', () => {
    for (const [i, role] of ROLES.entries()) {
      for (const lower of ROLES.slice(i))
        expect(permissionsOf(lower).every((permission) => mayDo(role, permission))).toBe(true);
    }
  });
});
