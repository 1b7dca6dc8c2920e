import { describe, expect, it } from 'vitest';
import {
  judgeNarrowing,
  mayDo,
  permissionsOf,
  ROLES,
  seesDomain,
  writesRecordsOnly,
} from '../../../src/api/callers/caller.ts';
import { parseName } from '../../../src/dns/name.ts';

const name = (text: string) => parseName(text);
const WHOLE = { domains: null, names: null, types: null };
const ACME = { ...WHOLE, names: ['_acme-challenge.a.test'], types: ['TXT'] };
const record = (owner: string, type: string) => ({ name: name(owner), type });

describe('an API key', () => {
  it('may see and write everything if it has no restrictions', () => {
    expect(seesDomain(WHOLE, name('a.test.'))).toBe(true);
    expect(writesRecordsOnly(WHOLE)).toBe(false);
    expect(judgeNarrowing(WHOLE, [record('a.test.', 'A')])).toBeUndefined();
  });

  it('for some domains sees no other domains, including those below them', () => {
    const key = { ...WHOLE, domains: ['a.test'] };
    expect(seesDomain(key, name('a.test.'))).toBe(true);
    expect(seesDomain(key, name('b.a.test.'))).toBe(false);
    expect(seesDomain({ ...WHOLE, domains: [] }, name('a.test.'))).toBe(false);
  });

  it('for some records may write these, but may not make a call that also writes others', () => {
    const wanted = record('_acme-challenge.a.test.', 'TXT');
    expect(judgeNarrowing(ACME, [wanted, wanted])).toBeUndefined();
    expect(judgeNarrowing(ACME, [wanted, record('www.a.test.', 'TXT')])).toMatchObject({ status: 403 });
    expect(judgeNarrowing(ACME, [record('_acme-challenge.a.test.', 'A'), wanted])).toMatchObject({
      status: 403,
    });
  });
});

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

  it('each role may do everything that the next lower role may do', () => {
    for (const [i, role] of ROLES.entries()) {
      for (const lower of ROLES.slice(i))
        expect(permissionsOf(lower).every((permission) => mayDo(role, permission))).toBe(true);
    }
  });
});
