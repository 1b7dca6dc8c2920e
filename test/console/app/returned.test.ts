import { describe, expect, it } from 'vitest';
import { readKept, readParameters } from '../../../console/src/app/returned.ts';

describe('readParameters', () => {
  it.each([
    ['?code=a&state=b', { code: 'a', state: 'b' }],
    [
      '?code=a&state=b&iss=https%3A%2F%2Fid.test&session_state=x',
      { code: 'a', state: 'b', iss: 'https://id.test' },
    ],
    ['?error=access_denied&state=b', undefined],
    ['?code=a', undefined],
    ['', undefined],
  ])('reads %s', (search, expected) => expect(readParameters(search)).toEqual(expected));
});

describe('readKept', () => {
  const start = '/console/domains';
  it.each([
    [
      { purpose: 'link', page: '/console/account' },
      { purpose: 'link', page: '/console/account' },
    ],
    [
      { purpose: 'sign-in', page: '/console/domains?q=1#invite=x' },
      { page: '/console/domains?q=1#invite=x' },
    ],
    [{ purpose: 'sign-in', page: 'https://evil.test/console/' }, { page: start }],
    [{ purpose: 'sign-in', page: '//evil.test' }, { page: start }],
    [{ purpose: 'sign-in', page: '/console.evil.test/' }, { page: start }],
    [{ purpose: 'sign-in', page: '/console/oidc' }, { page: start }],
    [{ purpose: 'sign-in', page: 7 }, { page: start }],
    [
      { purpose: 'steal', page: '/console/account' },
      { purpose: 'sign-in', page: start },
    ],
    [null, { purpose: 'sign-in', page: start }],
  ])('opens a page of the console only: %j', (kept, expected) =>
    expect(readKept(JSON.stringify(kept))).toMatchObject(expected));

  it('returns the start page for what is not JSON', () => {
    expect([readKept(null), readKept('{')].map(({ page }) => page)).toEqual([start, start]);
  });
});
