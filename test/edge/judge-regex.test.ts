import { describe, expect, it } from 'vitest';
import { isSafeForBacktracking, judgeRegex } from '../../src/edge/judge-regex.ts';

describe('a regular expression', () => {
  it('is RE2 syntax, and tells how many groups it has', () => {
    expect(judgeRegex('^/a/(\\d+)/(?:x|y)(?P<rest>.*)$')).toMatchObject({ kind: 'regex', groups: 2 });
  });

  it.each([
    ['', 'must not be empty'],
    ['ab[c', 'missing closing ] at character 3: [c'],
    ['a(?=b)', 'invalid or unsupported Perl syntax at character 2: (?='],
    ['(a)\\1', 'invalid escape sequence at character 4: \\1'],
    ['x**', 'at character 2: **'],
    ['a{2,1}', 'at character 2: {2,1}'],
    ['a'.repeat(1025), 'at most 1024 characters'],
  ])('%# is refused, and the place is named', (text, message) => {
    const judged = judgeRegex(text);
    expect(judged.kind === 'problem' && judged.message).toContain(message);
  });

  it.each([
    '((a{1000}){1000})',
    '(?:a{1000}){1000}',
    `(?:${'a'.repeat(900)}){1000}`,
    `(?:${'\\pL'.repeat(300)}){1000}`,
    '((((a{30}){30}){30}){30})',
    '(?:\\pL){999}'.repeat(80),
  ])('%# that would make a large program is refused', (text) => {
    expect(judgeRegex(text).kind).toBe('problem');
  });

  it('that is deeply nested is judged without an overflow', () => {
    expect(judgeRegex(`${'('.repeat(511)}a${')'.repeat(511)}`).kind).toBe('regex');
    expect(judgeRegex('('.repeat(1024)).kind).toBe('problem');
  });
});

it('engines that backtrack take those without nested repetition only', () => {
  expect(isSafeForBacktracking('^/wp-(login|admin)\\.php$')).toBe(true);
  expect(isSafeForBacktracking('(a+)+$')).toBe(false);
  expect(isSafeForBacktracking('\\p{Greek}+')).toBe(false);
});
