// Before a check changes a status, observers elsewhere have to see the same (docs/rules.md "Vantage points"): whoever lies to this
// network alone must win nothing.

import { type Circumstances, type JudgedName, judgeName } from '../../src/checks/claims/judge-name.ts';
import type { NameClaims } from '../../src/checks/claims/name-claims.ts';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import { FINDINGS } from '../../src/checks/delegation/findings.ts';
import type { VoiceView } from '../../src/checks/delegation/seen.ts';
import { changesOf, giveUnheldName, judgeElsewhere, seenOf } from '../../src/checks/vantage/judge-change.ts';
import type { VantageAsker, VantageQuestion } from './ask-vantages.ts';

interface Confirmed {
  /** What the check made here does, if the others agree; else it decides nothing. */
  readonly judged: JudgedName;
  /** Undefined: none was asked. */
  readonly views: readonly VoiceView[] | undefined;
}

export async function confirmChange(
  vantages: Pick<VantageAsker, 'ask'> | undefined,
  {
    claims,
    evidence,
    around,
    ...question
  }: {
    readonly claims: NameClaims;
    readonly evidence: Evidence;
    readonly around: Circumstances;
  } & Pick<VantageQuestion, 'nameText' | 'fresh' | 'thorough' | 'deadlineMs' | 'signal'>,
): Promise<Confirmed> {
  const judged = judgeName(claims, evidence, around);
  // What this fleet has itself nobody on the way can change.
  const isOurs = evidence.servers.some(({ transport }) => transport === 'database');
  const changes = vantages === undefined || isOurs ? [] : changesOf(claims, evidence, around, judged);
  const [first] = changes;
  if (vantages === undefined || first === undefined) return { judged, views: undefined };
  const asked = await vantages.ask({
    ...question,
    isUnheld: giveUnheldName(claims, changes),
    judge: (there) => judgeElsewhere(claims, { here: evidence, there }, around, changes),
  });
  if (asked.kind === 'off') return { judged, views: undefined };
  const { views } = asked;
  if (asked.kind === 'agreed') return { judged, views };
  const finding =
    asked.kind === 'differ'
      ? FINDINGS.VANTAGES_DISAGREE(evidence.parent, seenOf(first.judgement), views)
      : FINDINGS.VANTAGES_AWAY();
  return { judged: judgeName(claims, evidence, { ...around, withheld: [finding] }), views };
}
