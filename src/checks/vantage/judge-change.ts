// Decides, claim by claim and by the same rules, if a check of the same name made elsewhere would cause the same changes as
// the local one.

import type { Circumstances, JudgedClaim, JudgedName } from '../claims/judge-name.ts';
import { judgeName } from '../claims/judge-name.ts';
import { holderBeside, isSameSet, type NameClaims } from '../claims/name-claims.ts';
import type { Evidence } from '../delegation/evidence.ts';
import type { Seen, VoiceView } from '../delegation/seen.ts';
import type { Judgement } from '../delegation/verdict.ts';
import { type Answer, type Word, wordOf } from './judge-voices.ts';
import type { Voice } from './voices.ts';

/** A vantage point's vote on a change, and its observation. */
export interface VantageWord extends Seen {
  readonly word: Word;
}

/** Returns the claims whose status changes because of the evidence. Changes due only to time are not included. */
export function changesOf(
  name: NameClaims,
  evidence: Evidence,
  around: Circumstances,
  judged: JudgedName,
): readonly JudgedClaim[] {
  const still = judged.claims.every(({ claim, decision }) => decision.to === claim.state.status);
  if (still) return [];
  const unseen = judgeName(name, evidence, { ...around, withheld: [] });
  return judged.claims.filter(({ decision }, i) => decision.to !== unseen.claims[i]?.decision.to);
}

/** True if the changes only assign a name that no other account has. */
export function giveUnheldName(name: NameClaims, changes: readonly JudgedClaim[]): boolean {
  return changes.every((change) => isProof(change) && holderBeside(name, change.claim) === undefined);
}

/** Evaluates evidence from elsewhere for these changes. Its clock is ignored. */
export function judgeElsewhere(
  name: NameClaims,
  { here, there }: { readonly here: Evidence; readonly there: Evidence },
  around: Circumstances,
  changes: readonly JudgedClaim[],
): VantageWord {
  const { startedAt, finishedAt } = here;
  const judged = judgeName(name, { ...there, startedAt, finishedAt }, around);
  // Losses of other accounts follow from the proven set.
  const proofs = changes.filter(isProof);
  const words = (proofs.length > 0 ? proofs : changes).map((change): Word => {
    const same = judged.claims.find(({ claim }) => claim.id === change.claim.id) as JudgedClaim;
    const isSame = isSameSeen(change, same.judgement);
    if (isSame && change.decision.to === same.decision.to) return 'agrees';
    // It saw the same set, but from fewer addresses than a takeover requires.
    const isLess = isProof(change) && isSame && !same.judgement.staleDs;
    return isConclusive(same.judgement) && !isLess ? 'differs' : 'silent';
  });
  const word =
    words.find((each) => each === 'differs') ?? words.find((each) => each === 'silent') ?? 'agrees';
  const [first] = changes as [JudgedClaim];
  const seen = judged.claims.find(({ claim }) => claim.id === first.claim.id) as JudgedClaim;
  return { word, ...seenOf(seen.judgement) };
}

/** Returns the result of each voice, for the log of checks. */
export function viewsOf(
  voices: readonly Voice[],
  words: ReadonlyMap<string, VantageWord>,
): readonly VoiceView[] {
  return voices.map(({ label, vantages }) => {
    const said = vantages.flatMap((vantage) => words.get(vantage) ?? []);
    const answers = said.map(({ word }): Answer => word);
    const word = wordOf(answers);
    const isSplit = word === 'silent' && answers.some((answer) => answer !== 'silent');
    const shown = said.find((each) => each.word === word);
    if (isSplit || shown === undefined)
      return { label, word, kind: isSplit ? ('split' as const) : ('nothing' as const), ns: [] };
    return { label, word, kind: shown.kind, ns: shown.ns };
  });
}

/** True if the claim's set proves or restores it. */
function isProof({ decision, judgement }: JudgedClaim): boolean {
  return judgement.matched !== undefined && (decision.to === 'active' || decision.to === 'pending');
}

function isSameSeen({ judgement: { matched } }: JudgedClaim, there: Judgement): boolean {
  if (matched === undefined) return true;
  return there.matched !== undefined && isSameSet(matched, there.matched);
}

/** The result does not depend on whose sets are compared. */
export function seenOf({ verdict, observed }: Pick<Judgement, 'verdict' | 'observed'>): Seen {
  switch (verdict) {
    case 'not_delegated':
    case 'unregistered':
    case 'alias':
      return { kind: verdict, ns: [] };
    case 'unknown':
      return { kind: 'nothing', ns: [] };
    default:
      return { kind: 'delegated', ns: observed ?? [] };
  }
}

/** If the root does not validate there, the fault is that vantage point's. */
function isConclusive({ confirmed, soleWitness, verdict, rootFault }: Judgement): boolean {
  return verdict !== 'unknown' && (confirmed || soleWitness) && rootFault !== true;
}
