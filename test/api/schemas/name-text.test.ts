import { expect, it } from 'vitest';
import { nameText } from '../../../src/api/schemas/name-text.ts';

it.each(['Ann', 'آریا\u200cنام', 'Zoë 👩\u200d🔬', 'a@b, "c"'])('%j is a name', (text) => {
  expect(nameText(100).parse(text)).toBe(text);
});

it.each([
  '',
  'x'.repeat(101),
  'a\nb',
  'a\u001b[2Jb',
  'a\u0085',
  'a\u2028b',
  'a\u202eb',
  'a\u2066',
])('%j is none', (text) => {
  expect(nameText(100).safeParse(text).success).toBe(false);
});
