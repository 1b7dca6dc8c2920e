import { expect, test } from 'vitest';
import { readAsnDb } from '../../../src/checks/child/read-asn-db.ts';

test('the longest prefix applies, of either family', () => {
  const asnOf = readAsnDb(`# made by hand
5.0.0.0/8 64500
5.4.0.0/16 AS64501
2a0b::/16 64502

2a0b:4::/48 64503
`);
  expect(['5.3.0.1', '5.4.0.1', '6.0.0.1', '2a0b:3::1', '2a0b:4::1', '2a0b:4:1::1', 'no'].map(asnOf)).toEqual(
    [64500, 64501, undefined, 64502, 64503, 64502, undefined],
  );
});

test('the length may be a word of its own, and of several numbers the first counts', () => {
  const asnOf = readAsnDb('1.0.0.0\t24\t13335\n1.0.4.0\t22\t38803_56203\n0.0.0.0/0 1');
  expect(['1.0.0.1', '1.0.5.1', '9.9.9.9'].map(asnOf)).toEqual([13335, 38803, 1]);
});

test.each([
  '5.0.0.0/33 1',
  '5.0.0/8 1',
  '5.0.0.0/8',
  '5.0.0.0 1',
  '2a0b::/49 1',
  'x',
])('the line "%s" is refused by its number', (line) => {
  expect(() => readAsnDb(`5.0.0.0/8 1\n${line}`)).toThrow(
    `line 2: "${line}" is not a prefix and an AS number`,
  );
});
