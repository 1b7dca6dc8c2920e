// Decides whether enough voices confirm a change (docs/rules.md "Vantage points"): all that answered except one, and at least
// two. A voice that is unavailable does not count, so disabling voices only causes delay.

import type { Voice } from './voices.ts';

/** Result of one vantage point about a change. `silent`: no reliable result. */
export type Word = 'agrees' | 'differs' | 'silent';
/** `open`: the answer may still come. */
export type Answer = Word | 'open';

type VoicesJudgement =
  | 'agreed'
  /** Too many see something else. */
  | 'differ'
  /** Too few answered. */
  | 'away'
  /** Missing answers may still decide. */
  | 'open';

/**
 * `answers` by vantage point. A missing one is silent. `isUnheld`: the change assigns a name that no other account
 * has, so one voice is enough if the others are unavailable.
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

/** Returns the result of a voice from all of its vantage points. If they disagree, it is silent. */
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

/** Returns the most favourable result that the voice can still reach. */
function bestOf(answers: readonly Answer[]): Word {
  if (!answers.includes('open')) return wordOf(answers);
  return answers.includes('differs') ? 'silent' : 'agrees';
}

function worstOf(answers: readonly Answer[]): Word {
  if (!answers.includes('open')) return wordOf(answers);
  return answers.includes('agrees') ? 'silent' : 'differs';
}
