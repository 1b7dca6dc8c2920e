import { describe, expect, it } from 'vitest';
import { type Answer, judgeVoices, wordOf } from '../../../src/checks/vantage/judge-voices.ts';
import type { Voice } from '../../../src/checks/vantage/voices.ts';

const WORDS = ['agrees', 'differs', 'silent'] as const;
const ALL: readonly Answer[] = [...WORDS, 'open'];

const voicesOfOne = (count: number): Voice[] =>
  Array.from({ length: count }, (_, i) => ({ label: `n${i}`, vantages: [`v${i}`] }));
const judge = (answers: readonly Answer[], isUnheld: boolean) =>
  judgeVoices(voicesOfOne(answers.length), new Map(answers.map((answer, i) => [`v${i}`, answer])), {
    isUnheld,
  });
const count = (answers: readonly Answer[], wanted: Answer) =>
  answers.filter((answer) => answer === wanted).length;

function* products<T>(items: readonly T[], length: number): Generator<T[]> {
  if (length === 0) return yield [];
  for (const rest of products(items, length - 1)) for (const item of items) yield [...rest, item];
}

describe('every answer of up to five voices', () => {
  it.each([
    false,
    true,
  ])('all that answered but one, and two at least; for an unheld name (%s) one while the others are away', (isUnheld) => {
    for (let size = 0; size <= 5; size++) {
      for (const answers of products(WORDS, size)) {
        const agree = count(answers, 'agrees');
        const answered = size - count(answers, 'silent');
        const many = agree >= 2 && agree >= answered - 1;
        const alone = isUnheld && answered === 1 && agree === 1;
        const expected = many || alone ? 'agreed' : agree < answered ? 'differ' : 'away';
        expect([answers, judge(answers, isUnheld)]).toEqual([answers, expected]);
      }
    }
  });

  it.each([
    false,
    true,
  ])('is decided exactly when nothing that may still come changes it (unheld: %s)', (isUnheld) => {
    for (let size = 1; size <= 4; size++) {
      for (const answers of products(ALL, size)) {
        const ends = new Set<boolean>();
        for (const late of products(WORDS, count(answers, 'open'))) {
          const filled = answers.map((answer) => (answer === 'open' ? (late.pop() as Answer) : answer));
          ends.add(judge(filled, isUnheld) === 'agreed');
        }
        const judged = judge(answers, isUnheld);
        expect([answers, judged === 'open']).toEqual([answers, ends.size === 2]);
        if (judged !== 'open') expect([answers, judged === 'agreed']).toEqual([answers, ends.has(true)]);
      }
    }
  });
});

describe('one voice of many vantages', () => {
  it('has one word, and none when its vantages do not agree', () => {
    expect(wordOf(['agrees', 'agrees', 'silent'])).toBe('agrees');
    expect(wordOf(['agrees', 'differs', 'agrees'])).toBe('silent');
    expect(wordOf(['differs', 'silent'])).toBe('differs');
    expect(wordOf(['silent', 'silent'])).toBe('silent');
    expect(wordOf([])).toBe('silent');
  });

  it('counts once, however many vantages it has', () => {
    const many: Voice = { label: 'ams', vantages: ['a', 'b', 'c', 'd'] };
    const one: Voice = { label: 'fra', vantages: ['e'] };
    const answers = (of: Record<string, Answer>) => new Map(Object.entries(of));
    const word = (of: Record<string, Answer>, isUnheld = false) =>
      judgeVoices([many, one], answers(of), { isUnheld });
    const all = { a: 'agrees', b: 'agrees', c: 'agrees', d: 'agrees' } as const;
    expect(word(all)).toBe('away');
    expect(word({ ...all, e: 'agrees' })).toBe('agreed');
    expect(word({ ...all, e: 'differs' })).toBe('differ');
    expect(word({ ...all, d: 'differs', e: 'agrees' })).toBe('away');
    expect(word({ ...all, d: 'differs', e: 'agrees' }, true)).toBe('agreed');
    expect(word({ ...all, d: 'open', e: 'agrees' })).toBe('open');
    expect(word({ ...all, d: 'open', e: 'silent' })).toBe('away');
  });

  it.each([
    false,
    true,
  ])('is open while one of its vantages may still contradict the others (unheld: %s)', (isUnheld) => {
    for (const said of products(ALL, 3)) {
      const voice: Voice = { label: 'ams', vantages: ['v0', 'v1', 'v2'] };
      const other: Voice = { label: 'fra', vantages: ['w'] };
      const answersOf = (of: readonly Answer[]) =>
        new Map<string, Answer>([
          ...of.map((answer, i): [string, Answer] => [`v${i}`, answer]),
          ['w', 'agrees'],
        ]);
      const ends = new Set<string>();
      for (const late of products(WORDS, count(said, 'open'))) {
        const filled = said.map((answer) => (answer === 'open' ? (late.pop() as Answer) : answer));
        ends.add(String(judgeVoices([voice, other], answersOf(filled), { isUnheld }) === 'agreed'));
      }
      const judged = judgeVoices([voice, other], answersOf(said), { isUnheld });
      expect([said, judged === 'open']).toEqual([said, ends.size === 2]);
    }
  });
});
