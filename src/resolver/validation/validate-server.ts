// Validates one server's reply about the domain with the keys of a secure parent.

import type { ServerEvidence } from '../../checks/delegation/evidence.ts';
import type { ValidationBudget } from '../../checks/validation/budget.ts';
import { type ReplyClaim, type SecureZone, validateReply } from '../../checks/validation/validate-reply.ts';
import type { Name } from '../../dns/name.ts';
import type { ServerResult } from '../walk/ask-server.ts';

export interface ParentKeys {
  readonly from: SecureZone;
  readonly budget: ValidationBudget;
  readonly now: () => number;
}

/** Adds the validation result to the evidence. Returns it unchanged if nothing can be validated. */
export function validateServer(
  evidence: ServerEvidence,
  { message }: ServerResult,
  domain: Name,
  { from, budget, now }: ParentKeys,
): ServerEvidence {
  const claim = claimOf(evidence, domain);
  if (claim === undefined || message === undefined) return evidence;
  const validation = validateReply(message, claim, from, { at: Math.floor(now() / 1000), budget });
  switch (validation.kind) {
    case 'secure':
    case 'insecure':
      return { ...evidence, proof: validation.kind };
    case 'bogus':
    case 'limit':
      return { ...evidence, outcome: validation.kind, error: validation.reason };
    default:
      return validation satisfies never;
  }
}

/** Returns undefined for an answer with AA: it is from the domain's own zone, whose keys this check does not need. */
function claimOf({ outcome }: ServerEvidence, domain: Name): ReplyClaim | undefined {
  if (outcome === 'referral') return { kind: 'referral', cut: domain };
  return outcome === 'nodata' || outcome === 'nxdomain' || outcome === 'alias'
    ? { kind: outcome, name: domain }
    : undefined;
}
