// An entry of the audit log in lines; long and foreign values stay text, and short.

import { expect, it } from 'vitest';
import { changedFields } from '../../../../console/src/screens/account/changed-fields.ts';

it('tells each field as it was and as it is', () => {
  expect(changedFields({ role: 'viewer' }, { role: 'editor' })).toEqual(['role: viewer → editor']);
  expect(changedFields(undefined, { names: ['a', 'b'], on: true })).toEqual(['names: ["a","b"]', 'on: true']);
  expect(changedFields({ email: 'a@b.example' }, undefined)).toEqual(['email: a@b.example → —']);
  expect(changedFields(undefined, { by: 'link', otp: false })).toEqual(['by: link']);
  expect(changedFields({ on: true }, { on: false })).toEqual(['on: true → false']);
  expect(changedFields(undefined, undefined)).toEqual([]);
});

it('cuts what is long', () => {
  const [line = ''] = changedFields(undefined, { text: 'x'.repeat(1000) });
  expect(line).toHaveLength('text: '.length + 121);
  const many = Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`f${i}`, i]));
  expect(changedFields(undefined, many)).toHaveLength(8);
});
