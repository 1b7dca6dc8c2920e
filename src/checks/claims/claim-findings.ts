// Selects the findings that a claim's owner sees: those of the delegation check, and those about other accounts with the
// name.

import type { NameserverSet } from '../delegation/check-state.ts';
import type { Finding } from '../delegation/finding.ts';
import { FINDINGS } from '../delegation/findings.ts';
import type { Decision } from '../delegation/next-status.ts';
import { unsteadyChanges } from '../delegation/steadiness.ts';
import type { Judgement } from '../delegation/verdict.ts';
import { type CheckedClaim, holderBeside, type NameClaims } from './name-claims.ts';

/** These findings tell what to change at the registrar. PRESET_DELEGATION includes all of it. */
const SAID_BY_PRESET: ReadonlySet<string> = new Set(['NS_MISSING', 'NS_EXTRA', 'NS_MIXED', 'NS_FOREIGN']);

export function findingsOf(
  name: NameClaims,
  claim: CheckedClaim,
  {
    judgement,
    decision,
    sets,
  }: { readonly judgement: Judgement; readonly decision: Decision; readonly sets: readonly NameserverSet[] },
): readonly Finding[] {
  if (claim.state.status === 'ended' && decision.to === 'pending') return [FINDINGS.CAME_BACK()];
  const unsteady = unsteadyChanges(decision.state.steadiness);
  const changes = unsteady === undefined ? [] : [FINDINGS.NS_UNSTEADY(unsteady, sets[0])];
  if (claim.state.status === 'active' || claim.state.status === 'moved')
    return [...decision.findings, ...changes];
  if (claim.state.status !== 'pending') return decision.findings;
  if (decision.to === 'disabled') return [...decision.findings, FINDINGS.PENDING_OVER(sets[0])];
  const others = (judgement.observed ?? []).filter(
    (shown) => name.ours.has(shown) && !sets.some((set) => set.includes(shown)),
  );
  // PRESET_DELEGATION would be wrong for a held name: the name is answered, for its holder.
  const isHeld = holderBeside(name, claim) !== undefined;
  return [
    ...decision.findings.filter(({ code }) => others.length === 0 || !SAID_BY_PRESET.has(code)),
    ...(others.length > 0 && !isHeld ? [FINDINGS.PRESET_DELEGATION(others, sets[0])] : []),
    ...(sets.length === 0 ? [FINDINGS.SETS_SPENT()] : []),
    ...(isHeld ? [FINDINGS.NAME_IN_USE(sets[0])] : []),
    ...(claim.inner?.length && decision.to === 'pending' ? [FINDINGS.INNER_DELEGATED(claim.inner)] : []),
    ...changes,
  ];
}
