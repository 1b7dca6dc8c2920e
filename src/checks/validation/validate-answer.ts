// Validates an authoritative reply of a secure zone: the requested set, an alias, or the proof that there is none (RFC 4035
// §5.3, §5.4).

import type { Message } from '../../dns/message/message.ts';
import { RCODE } from '../../dns/message/rcodes.ts';
import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { withinBudget } from './budget.ts';
import { setAt } from './signed-sets.ts';
import {
  prove,
  type ReplyValidation,
  type SecureZone,
  type Validating,
  validateAlias,
} from './validate-reply.ts';
import { verifySet } from './verify-set.ts';

/** `name` is folded, at or below the zone, and not below a zone cut. */
export function validateAnswer(
  message: Message,
  { name, type }: { readonly name: Name; readonly type: number },
  from: SecureZone,
  validating: Validating,
): ReplyValidation {
  const { answers, authorities, rcode } = message;
  return withinBudget((): ReplyValidation => {
    const set = setAt(answers, name, type);
    if (set !== undefined) {
      const verified = verifySet(set, { ...from, ...validating });
      if (verified.kind === 'bogus') return verified;
      const { until, labels, isExpanded } = verified;
      if (!isExpanded) return { kind: 'secure', until };
      const proof = prove(authorities, { kind: 'expanded', name, labels }, from, validating);
      return 'until' in proof ? { ...proof, until: Math.min(until, proof.until) } : proof;
    }
    if (answers.some((record) => record.type === TYPE.CNAME || record.type === TYPE.DNAME))
      return validateAlias(message, name, from, validating);
    const claim =
      rcode === RCODE.NXDOMAIN
        ? ({ kind: 'no_name', name } as const)
        : ({ kind: 'no_type', name, type } as const);
    const proof = prove(authorities, claim, from, validating);
    if (!('until' in proof)) return proof;
    // The SOA limits how long the answer is valid (RFC 2308 §5), so it must be the zone's own.
    const soa = setAt(authorities, from.zone, TYPE.SOA);
    if (soa === undefined) return { kind: 'bogus', reason: 'the negative answer has no SOA' };
    const verified = verifySet(soa, { ...from, ...validating });
    if (verified.kind === 'bogus') return { kind: 'bogus', reason: `the SOA: ${verified.reason}` };
    return { ...proof, until: Math.min(proof.until, verified.until) };
  });
}
