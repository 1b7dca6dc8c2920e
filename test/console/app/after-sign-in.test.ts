import { expect, it } from 'vitest';
import { pageAfterSignIn } from '../../../console/src/app/after-sign-in.ts';

it('leads an admin back to a page that is known, and to no other address', () => {
  expect(pageAfterSignIn('?open=queues', { admin: true })).toBe('/console/queues/');
  for (const search of [
    '',
    '?open=',
    '?open=//elsewhere.example',
    '?open=https://elsewhere.example/',
    '?open=/console/queues/',
    '?open=__proto__',
    '?open=toString',
    '?open=javascript:alert(1)',
    '?queues',
  ])
    expect([search, pageAfterSignIn(search, { admin: true })]).toEqual([search, undefined]);
});

it('leaves who is no admin in the console', () => {
  expect(pageAfterSignIn('?open=queues', { admin: false })).toBeUndefined();
});
