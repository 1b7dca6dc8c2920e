import fc from 'fast-check';
import { RE2JS } from 're2js';
import { expect, it } from 'vitest';
import { measureRegex } from '../../src/edge/measure-regex.ts';
import { scale } from '../support/tests/scale.ts';

const atom = fc.oneof(
  fc.constantFrom(
    'a',
    '.',
    '\\d',
    '\\pL',
    '\\p{Greek}',
    '[a-z]',
    '[^]x]',
    '[[:alpha:]_]',
    '\\.',
    '^',
    '$',
    '\\b',
    '(?i)',
    '\\Qa*b\\E',
    '\\x41',
    '(?s)',
    '\\Q\\E',
    '{,',
  ),
  fc.string({ minLength: 1, maxLength: 3 }),
);
const quantifier = fc.constantFrom('', '', '', '*', '+', '?', '{3}', '{2,}', '{1,7}', '*?', '{0,1}', '{12}');
const { regex } = fc.letrec<{ regex: string; part: string; group: string }>((tie) => ({
  regex: fc.array(tie('part'), { minLength: 1, maxLength: 5 }).map((parts) => parts.join('')),
  part: fc.tuple(fc.oneof({ maxDepth: 5 }, atom, tie('group')), quantifier).map((both) => both.join('')),
  group: fc
    .tuple(
      fc.constantFrom('(', '(?:', '(?P<n>', '(?i:'),
      fc.array(tie('regex'), { minLength: 1, maxLength: 3 }),
    )
    .map(([head, choices]) => `${head}${choices.join('|')})`),
}));

it('never counts less than the program that RE2 makes', () => {
  let compiled = 0;
  fc.assert(
    fc.property(regex, (text) => {
      const { size } = measureRegex(text);
      if (size > 20_000) return;
      let program: number;
      try {
        program = RE2JS.compile(text).programSize();
      } catch {
        return;
      }
      compiled++;
      expect(size + 4, text).toBeGreaterThanOrEqual(program);
    }),
    { numRuns: scale(3000, 400) },
  );
  expect(compiled).toBeGreaterThan(scale(500, 60));
});

it.each([
  '(a+)+',
  '(a*)*',
  '(a?){30}',
  '(a|a)*',
  '(?:a|b+)+',
  '([a-z]+)*$',
  '((ab)*c)*',
  '.*.*.*.*x',
  '(.*a){12}',
])('%s repeats within what repeats, or too often', (text) => {
  expect(measureRegex(text).isNested).toBe(true);
});

it.each([
  '^/a',
  '/(de|en)/',
  '(abc)+',
  '^/[a-z0-9-]+/[0-9]{2,4}\\.html$',
  '(ab){3}',
  '(?i)\\.(php|asp)$',
  '\\(a+\\)+',
  '[(+]+',
])('%s is plain', (text) => {
  expect(measureRegex(text)).toMatchObject({ isNested: false, isPortable: true });
});

it.each([
  '\\pL',
  '\\x{41}',
  'é',
  '\\v',
  '(?U)a+',
  'a\\z',
  'a{,5}',
])('%s is read otherwise elsewhere', (text) => {
  expect(measureRegex(text).isPortable).toBe(false);
});
