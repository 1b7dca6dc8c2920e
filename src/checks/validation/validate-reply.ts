// Validates a referral, an alias or a negative answer of a secure zone: a DS set, an alias, or the proof that something
// does not exist. The NS set of a delegation is never signed (RFC 4035 §2.2), so it is never validated.

import { readNsec, readNsec3 } from '../../dns/dnssec/denial.ts';
import type { Message, MessageRecord } from '../../dns/message/message.ts';
import { isWithin, type Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { type ValidationBudget, withinBudget } from './budget.ts';
import { proveByNsec } from './nsec-proof.ts';
import { proveByNsec3 } from './nsec3-proof.ts';
import type { Claim, Proof } from './proof.ts';
import { ownersOf, type SignedSet, setAt } from './signed-sets.ts';
import { verifySet } from './verify-set.ts';
import type { ZoneKey } from './zone-keys.ts';

/** The answering zone, whose keys are known. Its name is folded. */
export interface SecureZone {
  readonly zone: Name;
  readonly keys: readonly ZoneKey[];
}

export interface Validating {
  /** Seconds since 1970. */
  readonly at: number;
  readonly budget: ValidationBudget;
}

/** `insecure`: opt-out or expensive hashes prevent a proof, so the answer counts as unsigned. */
export type ReplyValidation =
  | { readonly kind: 'secure'; readonly until: number }
  | { readonly kind: 'insecure'; readonly until: number }
  | { readonly kind: 'bogus' | 'limit'; readonly reason: string };

/** `ds` is the rdata of the DS set. It is empty if the zone cut provably has none. */
export type DsValidation =
  | { readonly kind: 'secure'; readonly until: number; readonly ds: readonly Uint8Array[] }
  | { readonly kind: 'insecure'; readonly until: number }
  | { readonly kind: 'bogus' | 'limit'; readonly reason: string };

/** The claim of a reply to an NS query. Names are folded. */
export type ReplyClaim =
  | { readonly kind: 'referral'; readonly cut: Name }
  | { readonly kind: 'nodata' | 'nxdomain' | 'alias'; readonly name: Name };

/** `from`: the parent of the claimed name. */
export function validateReply(
  message: Message,
  claim: ReplyClaim,
  from: SecureZone,
  validating: Validating,
): ReplyValidation {
  return withinBudget((): ReplyValidation => {
    switch (claim.kind) {
      case 'referral':
        return findDs(message.authorities, claim.cut, from, validating);
      case 'nodata':
        return prove(
          message.authorities,
          { kind: 'no_type', name: claim.name, type: TYPE.NS },
          from,
          validating,
        );
      case 'nxdomain':
        return prove(message.authorities, { kind: 'no_name', name: claim.name }, from, validating);
      case 'alias':
        return validateAlias(message, claim.name, from, validating);
      default:
        return claim satisfies never;
    }
  });
}

/** Validates the reply to a query for the DS set of a zone cut, or a referral to it. */
export function validateDs(
  message: Message,
  cut: Name,
  from: SecureZone,
  validating: Validating,
): DsValidation {
  return withinBudget(() => findDs([...message.answers, ...message.authorities], cut, from, validating));
}

function findDs(
  section: readonly MessageRecord[],
  cut: Name,
  from: SecureZone,
  validating: Validating,
): DsValidation {
  const set = setAt(section, cut, TYPE.DS);
  if (set !== undefined) {
    const verified = verifySet(set, { ...from, ...validating });
    if (verified.kind === 'bogus') return { kind: 'bogus', reason: `DS set: ${verified.reason}` };
    if (verified.isExpanded) return { kind: 'bogus', reason: 'the DS set comes from a wildcard' };
    return { kind: 'secure', until: verified.until, ds: set.rdata };
  }
  const claim: Claim = { kind: 'no_type', name: cut, type: TYPE.DS };
  const proof = findProof(section, claim, from, validating);
  const verified = verifyProof(proof, from, validating);
  if ('reason' in verified) return verified;
  const { kind, until } = verified;
  if (kind === 'insecure') return { kind, until };
  // A signed denial of the zone cut contradicts the referral.
  const isCut = proof.kind === 'proven' && proof.isCut;
  if (!isCut) return { kind: 'bogus', reason: 'the proof shows that there is no delegation' };
  return { kind, until, ds: [] };
}

/** Throws OverBudget, like `prove`. */
export function validateAlias(
  { answers, authorities }: Message,
  name: Name,
  from: SecureZone,
  validating: Validating,
): ReplyValidation {
  const set = aliasSet(answers, name, from.zone);
  if (set === undefined) return { kind: 'bogus', reason: 'the alias is missing' };
  const verified = verifySet(set, { ...from, ...validating });
  if (verified.kind === 'bogus') return { kind: 'bogus', reason: `the alias: ${verified.reason}` };
  const { until, labels, isExpanded } = verified;
  if (!isExpanded) return { kind: 'secure', until };
  const claim: Claim = { kind: 'expanded', name: set.owner, labels };
  const proof = prove(authorities, claim, from, validating);
  return 'until' in proof ? { ...proof, until: Math.min(until, proof.until) } : proof;
}

/** A CNAME generated from a DNAME has no signature of its own (RFC 6672 §5.3.1). */
function aliasSet(answers: readonly MessageRecord[], name: Name, zone: Name): SignedSet | undefined {
  for (const owner of ownersOf(answers, TYPE.DNAME)) {
    if (isWithin(name, owner) && isWithin(owner, zone)) return setAt(answers, owner, TYPE.DNAME);
  }
  return setAt(answers, name, TYPE.CNAME);
}

export function prove(
  section: readonly MessageRecord[],
  claim: Claim,
  from: SecureZone,
  validating: Validating,
): ReplyValidation {
  return verifyProof(findProof(section, claim, from, validating), from, validating);
}

function findProof(
  section: readonly MessageRecord[],
  claim: Claim,
  { zone }: SecureZone,
  { budget }: Validating,
): Proof {
  const nsec = denialSets(section, TYPE.NSEC, zone).map((set) => ({
    ...readNsec(set.owner, set.rdata[0] as Uint8Array),
    set,
  }));
  const byNsec = proveByNsec(nsec, claim);
  if (byNsec.kind === 'proven') return byNsec;
  const nsec3 = denialSets(section, TYPE.NSEC3, zone).flatMap((set) => {
    const read = readNsec3(set.owner, set.rdata[0] as Uint8Array, zone);
    return read === undefined ? [] : [{ ...read, set }];
  });
  return nsec3.length === 0 ? byNsec : proveByNsec3(nsec3, claim, { zone, budget });
}

/** A whole proof has three records (RFC 5155 §7.2). More would only cost time. */
const MAX_DENIALS = 16;

function denialSets(section: readonly MessageRecord[], type: number, zone: Name): SignedSet[] {
  return [...ownersOf(section, type)]
    .filter((owner) => isWithin(owner, zone))
    .slice(0, MAX_DENIALS)
    .flatMap((owner) => {
      const set = setAt(section, owner, type);
      return set === undefined || set.rdata.length !== 1 ? [] : [set];
    });
}

function verifyProof(proof: Proof, from: SecureZone, validating: Validating): ReplyValidation {
  if (proof.kind === 'missing') return { kind: 'bogus', reason: proof.reason };
  let until = Number.POSITIVE_INFINITY;
  for (const set of proof.uses) {
    const verified = verifySet(set, { ...from, ...validating });
    if (verified.kind === 'bogus') return { kind: 'bogus', reason: `the proof: ${verified.reason}` };
    // A record generated from a wildcard proves nothing about neighbouring names.
    if (verified.isExpanded) return { kind: 'bogus', reason: 'the proof comes from a wildcard' };
    until = Math.min(until, verified.until);
  }
  const isOpen = proof.kind === 'costly' || proof.optOut;
  return isOpen ? { kind: 'insecure', until } : { kind: 'secure', until };
}
