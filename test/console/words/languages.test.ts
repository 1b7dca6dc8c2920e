import { readdirSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { en } from '../../../console/src/words/en/en.ts';
import * as fa from '../../../console/src/words/fa/fa.ts';
import { date, digits, durationText, grouped, relative } from '../../../console/src/words/fa/figures.ts';
import { languageFor } from '../../../console/src/words/language.ts';

/** Lists the texts of a tree with their paths. The text of a function is its source. */
function textsOf(tree: unknown, path = ''): [path: string, kind: string, text: string][] {
  if (typeof tree === 'object' && tree !== null)
    return Object.entries(tree).flatMap(([key, value]) => textsOf(value, `${path}.${key}`));
  if (typeof tree !== 'function') return [[path, typeof tree, String(tree)]];
  return [[path, `function of ${tree.length}`, String(tree)]];
}

const FOLDER = new URL('../../../console/src/words/', import.meta.url);
const SHARED = ['common.ts', 'domain.ts', 'en.ts', 'figures.ts', 'sharing.ts', 'sign-in.ts'];
const separate = await Promise.all(
  readdirSync(new URL('en', FOLDER))
    .filter((file) => !SHARED.includes(file))
    .map((file) => import(new URL(`en/${file}`, FOLDER).href) as Promise<object>),
);
const english = textsOf({ words: en, ...Object.assign({}, ...separate) });
const persian = textsOf({ ...fa });

describe('the Persian texts', () => {
  it('are those of the English ones, with the same parameters', () => {
    const shape = (texts: typeof english) => texts.map(([path, kind]) => `${path}: ${kind}`).sort();
    expect(shape(persian)).toEqual(shape(english));
  });

  it('are not left in English', () => {
    const isPersian = (text: string) => /[\u0600-\u06ff]/.test(text);
    // Names, units and examples are the same in every language, and have no two words.
    const isSentence = (kind: string, text: string) =>
      kind === 'string'
        ? /[a-z]{2,} [a-z]{2,}/.test(text)
        : /['"`][^'"`]*[a-z]{2,} [a-z]{2,}[^'"`]*['"`]/.test(text);
    const left = persian.filter(([, kind, text]) => isSentence(kind, text) && !isPersian(text));
    expect(left).toEqual([]);
  });

  it('have Persian digits, the calendar of Iran, and durations', () => {
    expect(grouped(1_250_000)).toBe('۱٬۲۵۰٬۰۰۰');
    expect(digits('12.5')).toBe('۱۲٫۵');
    expect(date(new Date('2026-11-28T10:52:00Z'))).toMatch(/^۷ آذر ۱۴۰۵.*۱۰:۵۲ UTC$/);
    expect([relative(-2, 'minute'), relative(1, 'day')]).toEqual(['۲ دقیقه پیش', 'فردا']);
    expect([durationText(40), durationText(12_000)]).toEqual(['۴۰ ثانیه', '۳ ساعت و ۲۰ دقیقه']);
  });
});

describe('languageFor', () => {
  it('returns the chosen language, otherwise the first one of the browser, otherwise English', () => {
    expect(languageFor('fa', ['en-US'])).toBe('fa');
    expect(languageFor(undefined, ['de-DE', 'fa-IR', 'en'])).toBe('fa');
    expect(languageFor(undefined, ['EN-gb', 'fa'])).toBe('en');
    expect(languageFor('xx', ['toString', ''])).toBe('en');
  });
});
