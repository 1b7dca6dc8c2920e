import { expect, it } from 'vitest';
import { publicName, publicPath } from '../../../../console/src/screens/public-check/public-place.ts';

it.each(['shop.example', 'bücher.example', 'a/b', '<b>', '%', 'x y'])('leads to %j and back', (name) => {
  expect(publicName(publicPath(name))).toBe(name);
});

it('is no other page of the console', () => {
  expect(publicName('/console/')).toBeUndefined();
  expect(publicName('/console/checks/shop.example')).toBeUndefined();
  expect(publicName('/console/domains/check')).toBeUndefined();
  expect(publicName('/console/check')).toBe('');
  expect(publicName('/console/check/')).toBe('');
  expect(publicName('/console/check/%ff')).toBe('%ff');
});
