import { expect, it } from 'vitest';
import { pageAfterSignIn } from '../../../console/src/app/after-sign-in.ts';

it('leads an admin back to a known page, and to no other address', () => {
  expect(pageAfterSignIn('?open=queues', { admin: true })).toBe('/console/queues/');
  const pages = [
    '//elsewhere.example',
    'https://elsewhere.example/',
    '/console/queues/',
    'javascript:alert(1)',
  ];
  for (const search of [
    '',
    '?queues',
    ...['', '__proto__', 'toString', ...pages].map((page) => `?open=${page}`),
  ])
    expect([search, pageAfterSignIn(search, { admin: true })]).toEqual([search, undefined]);
  expect(pageAfterSignIn('?open=queues', { admin: false })).toBeUndefined();
});
