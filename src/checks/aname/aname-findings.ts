// Findings about the targets of a domain's ANAME records, each with a sentence that tells the owner what to change. The
// codes are part of the public API; the sentences are not.

import { type Name, printName } from '../../dns/name.ts';

export const ANAME_FINDING_CODES = [
  /** The lookup failed. The last known addresses stay in use. */
  'ANAME_TARGET_FAILS',
  /** The target's own zone has answered that it has no addresses, once or repeatedly. */
  'ANAME_TARGET_EMPTY',
  /** The target's aliases lead back to the target. */
  'ANAME_LOOP',
] as const;
export type AnameFindingCode = (typeof ANAME_FINDING_CODES)[number];

interface TargetTrouble {
  readonly target: Name;
  readonly code: AnameFindingCode;
}

export interface AnameFinding {
  readonly code: AnameFindingCode;
  readonly message: string;
}

const SENTENCES: Readonly<Record<AnameFindingCode, (targets: string) => string>> = {
  ANAME_TARGET_FAILS: (targets) =>
    `ANAME records point to ${targets}, but looking up its addresses fails. The last known addresses stay in use. Check the name for typing errors, or ask its provider to repair its nameservers.`,
  ANAME_TARGET_EMPTY: (targets) =>
    `ANAME records point to ${targets}, which has no addresses. The last known addresses stay in use until its nameservers have confirmed this for ten minutes. Point the records to a name that has addresses.`,
  ANAME_LOOP: (targets) =>
    `ANAME records point to ${targets}, which leads back to itself through other ANAME or CNAME records. No addresses can be found until you change one of these records.`,
};

/** Maximum number of targets listed in one sentence. */
const MAX_NAMED = 5;

/** Returns one finding per code. */
export function anameFindings(troubles: readonly TargetTrouble[]): AnameFinding[] {
  return ANAME_FINDING_CODES.flatMap((code) => {
    const targets = troubles.filter((trouble) => trouble.code === code).map(({ target }) => target);
    return targets.length === 0 ? [] : [{ code, message: SENTENCES[code](list(targets)) }];
  });
}

/** Formats `a`, `a or b`, `a, b or 3 more`, without trailing dots. */
function list(names: readonly Name[]): string {
  const named = names.slice(0, MAX_NAMED).map((name) => printName(name).slice(0, -1));
  const left = names.length - named.length;
  const last = left > 0 ? `${left} more` : (named.pop() as string);
  return named.length === 0 ? last : `${named.join(', ')} or ${last}`;
}
