// Whether a change has the word of enough voices (docs/rules.md "Vantage points"): of all that answered but one, and of two at
// least. A voice that is away counts for nobody: keeping voices away wins nothing but time.

import type { Voice } from './voices.ts';

/** What one vantage says of a change. `silent`: nothing that can be relied on. */
export type Word = 'agrees' | 'differs' | 'silent';
/** `open`: it may still answer. */
export type Answer = Word | 'open';

type VoicesJudgement =
  | 'agreed'
  /** Too many see something else. */
  | 'differ'
  /** Too few answered. */
  | 'away'
  /** Answers that may still come decide. */
  | 'open';

/**
 * `answers` by vantage; one that is missing is silent. `isUnheld`: the change gives a name that no other account has, so one
 * voice is enough when the others are away.
 */
export function judgeVoices(
  voices: readonly Voice[],
  answers: ReadonlyMap<string, Answer>,
  { isUnheld }: { readonly isUnheld: boolean },
): VoicesJudgement {
  const all = voices.map(({ vantages }) => vantages.map((name) => answers.get(name) ?? 'silent'));
  if (isEnough(all.map(worstOf), isUnheld)) return 'agreed';
  if (isEnough(all.map(bestOf), isUnheld)) return 'open';
  return all.some((said) => wordOf(said) === 'differs') ? 'differ' : 'away';
}

/** What a voice says that has heard all its vantages: if these do not agree, nothing. */
export function wordOf(answers: readonly Answer[]): Word {
  const said = new Set(answers.filter((answer) => answer === 'agrees' || answer === 'differs'));
  const [only] = said;
  return said.size === 1 ? (only as Word) : 'silent';
}

function isEnough(words: readonly Word[], isUnheld: boolean): boolean {
  const agree = words.filter((word) => word === 'agrees').length;
  const differ = words.filter((word) => word === 'differs').length;
  return (agree >= 2 && differ <= 1) || (isUnheld && agree === 1 && differ === 0);
}

/** The word that helps the change most, of those that the voice may still say. */
function bestOf(answers: readonly Answer[]): Word {
  if (!answers.includes('open')) return wordOf(answers);
  return answers.includes('differs') ? 'silent' : 'agrees';
}

function worstOf(answers: readonly Answer[]): Word {
  if (!answers.includes('open')) return wordOf(answers);
  return answers.includes('agrees') ? 'silent' : 'differs';
}
