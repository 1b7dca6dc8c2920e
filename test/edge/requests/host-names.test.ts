import { expect, it } from 'vitest';
import { namesAbove } from '../../../src/edge/requests/host-names.ts';

it('a host may belong to itself and to every name above it but the top-level one', () => {
  expect(namesAbove('a.b.shop.example')).toEqual(['a.b.shop.example', 'b.shop.example', 'shop.example']);
  expect(namesAbove('example')).toEqual([]);
});
