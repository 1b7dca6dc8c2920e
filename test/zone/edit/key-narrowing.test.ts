import { expect, test } from 'vitest';
import { parseName } from '../../../src/dns/name.ts';
import { judgeNarrowedWrite } from '../../../src/zone/edit/key-narrowing.ts';

const records = [
  { name: parseName('www.example.com.'), type: 'A' },
  { name: parseName('mail.example.com.'), type: 'MX' },
];

test('a key that is not narrowed writes every record', () => {
  expect(judgeNarrowedWrite({ names: null, types: null }, records)).toBeUndefined();
});

test('one record outside its names or types refuses a write', () => {
  const names = ['www.example.com', 'mail.example.com'];
  expect(judgeNarrowedWrite({ names, types: ['A', 'MX'] }, records)).toBeUndefined();
  expect(judgeNarrowedWrite({ names: names.slice(0, 1), types: null }, records)).toMatch(/at that name/);
  expect(judgeNarrowedWrite({ names, types: ['A'] }, records)).toMatch(/MX records/);
  expect(judgeNarrowedWrite({ names: [], types: [] }, [])).toBeUndefined();
});
