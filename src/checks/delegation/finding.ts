// A finding of a check. Its code is from a closed list that is part of the public API. Its message is not.

import type { Name } from '../../dns/name.ts';

/** Codes that every check writes again. */
const CHECK_FINDING_CODES = [
  /** The parent lacks names of the set. */
  'NS_MISSING',
  /** The parent has names besides the set. */
  'NS_EXTRA',
  /** The parent has names of several sets of the fleet. */
  'NS_MIXED',
  'NS_FOREIGN',
  'NOT_DELEGATED',
  'NOT_REGISTERED',
  'ALIAS',
  'STALE_DS',
  /** The parent lists servers of the fleet that are not this domain's. */
  'PRESET_DELEGATION',
  /** Another account holds the name. */
  'NAME_IN_USE',
  /** The parent showed this domain's set once. A second check decides. */
  'TAKEOVER_WAITS',
  /** The parent shows another account's set. */
  'TAKEOVER_SEEN',
  /** The parent's delegation changed often within a day. */
  'NS_UNSTEADY',
  /** Other accounts have domains inside this one, which its records do not delegate. */
  'INNER_DELEGATED',
  /** Every set that this domain could have was shown before or belongs to another account. */
  'SETS_SPENT',
  /** The domain was pending for too long. */
  'PENDING_OVER',
  /** The domain was enabled again automatically. */
  'CAME_BACK',
  /** Another claim took this one's slot among those that may wait for the name. */
  'CLAIM_DISPLACED',
  /** The walk to the parent failed, or no address of the parent gave a usable answer. */
  'PARENT_UNREACHABLE',
  'PARENT_LAME',
  /** The signatures of the parent, or of a zone above it, are not valid. */
  'PARENT_BOGUS',
  'VALIDATION_LIMIT',
  /** Some addresses of the parent fail. The others decide. */
  'PARENT_FAILS',
  'PARENTS_DISAGREE',
  /** The parent's servers set AA in referrals to the domain. They count as referrals. */
  'PARENT_SETS_AA',
  /** Some of the parent's servers answer only over TCP, without EDNS or in lower case. */
  'PARENT_AWKWARD',
  /** The parent's servers also serve the domain, and show that the parent delegates it. */
  'PARENT_HOLDS_CHILD',
  /** The parent's servers also serve the domain, as the fleet does for every claim. That does not prove a delegation. */
  'OWN_ANSWER',
  /** Only one of several addresses gave this result. */
  'UNCONFIRMED',
  'WALK_LIMIT',
  'DELEGATION_LOOP',
  /** The check ended early because it was slow while many other checks were slow too. */
  'TRY_LATER',
  /** The breaker holds the status. */
  'MOVES_HELD',
  /** The fleet's trust anchors do not match the root, so moves wait. */
  'ROOT_FAULT',
  /** Observers in other places do not see the change. */
  'VANTAGES_DISAGREE',
  /** Too few observers answered. */
  'VANTAGES_AWAY',
] as const;

/**
 * All codes. CLAIM_LOST is written by the store and stays until the domain is pending again. NS_TURN, PREPARE and APEX_ONLY
 * are computed when a domain is read, and are never stored.
 */
export const FINDING_CODES = [
  ...CHECK_FINDING_CODES,
  'CLAIM_LOST',
  'NS_TURN',
  'PREPARE',
  'APEX_ONLY',
] as const;
export type FindingCode = (typeof FINDING_CODES)[number];

export interface Finding {
  readonly code: FindingCode;
  /** Names that the message is about, if any. */
  readonly names?: readonly Name[];
  readonly message: string;
}

/** Ends the messages that need no action by the owner. Applies only to the checks of workers. */
export const WE_CHECK_AGAIN = 'we check again automatically';
export const NOTHING_TO_CHANGE = `You do not need to change anything at your registrar; ${WE_CHECK_AGAIN}.`;

export function finding(code: FindingCode, message: string, names?: readonly Name[]): Finding {
  return names === undefined ? { code, message } : { code, names, message };
}
