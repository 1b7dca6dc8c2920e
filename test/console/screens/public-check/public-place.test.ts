import { expect, it } from 'vitest';
import { publicName, publicPath } from '../../../../console/src/screens/public-check/public-place.ts';

it.each(['shop.example', 'bücher.example', 'a/b', '<b>', '%', 'x y'])('round-trips %j', (name) => {
  expect(publicName(publicPath(name))).toBe(name);
});

it('ignores other pages of the console', () => {
  expect(publicName('/console/')).toBeUndefined();
  expect(publicName('/console/checks/shop.example')).toBeUndefined();
  expect(publicName('/console/domains/check')).toBeUndefined();
  expect(publicName('/console/check')).toBe('');
  expect(publicName('/console/check/')).toBe('');
  expect(publicName('/console/check/%ff')).toBe('%ff');
});
