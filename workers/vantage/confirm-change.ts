// Requires that observers elsewhere observe the same before a check changes a status (docs/rules.md "Vantage
// points"), so that an attacker who deceives only this network gains nothing.

import { type Circumstances, type JudgedName, judgeName } from '../../src/checks/claims/judge-name.ts';
import type { NameClaims } from '../../src/checks/claims/name-claims.ts';
import type { Evidence } from '../../src/checks/delegation/evidence.ts';
import { FINDINGS } from '../../src/checks/delegation/findings.ts';
import type { VoiceView } from '../../src/checks/delegation/seen.ts';
import { changesOf, giveUnheldName, judgeElsewhere, seenOf } from '../../src/checks/vantage/judge-change.ts';
import type { VantageAsker, VantageQuestion } from './ask-vantages.ts';

interface Confirmed {
  /** Result of the local check if the observers agree. Otherwise the check decides nothing. */
  readonly judged: JudgedName;
  /** Undefined if no observer was asked. */
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
  // Nobody on the network path can change what this fleet itself serves.
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
