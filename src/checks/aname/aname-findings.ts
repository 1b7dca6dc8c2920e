// What is wrong with the targets of a domain's ANAME records, each with a sentence that tells the owner what to change.
// Public: the codes are part of the API, the sentences are not.

import { type Name, printName } from '../../dns/name.ts';

export const ANAME_FINDING_CODES = [
  /** The target gave no usable answer: the last addresses stay. */
  'ANAME_TARGET_FAILS',
  /** The target's own zone says that it has no addresses, once or for good. */
  'ANAME_TARGET_EMPTY',
  /** The target leads back to itself. */
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
    `ANAME records point to ${targets}, whose addresses cannot be looked up at the moment; addresses seen before stay in use. Check that the name is right, or ask its provider to repair its nameservers.`,
  ANAME_TARGET_EMPTY: (targets) =>
    `ANAME records point to ${targets}, which has no addresses; addresses seen before stay in use until its nameservers have confirmed this for ten minutes. Point the records to a name that has addresses.`,
  ANAME_LOOP: (targets) =>
    `ANAME records point to ${targets}, which leads back to itself through other ANAME or CNAME records, so no addresses can be found. Change one of these records.`,
};

/** How many targets one sentence names. */
const MAX_NAMED = 5;

/** Gives one finding for each code. */
export function anameFindings(troubles: readonly TargetTrouble[]): AnameFinding[] {
  return ANAME_FINDING_CODES.flatMap((code) => {
    const targets = troubles.filter((trouble) => trouble.code === code).map(({ target }) => target);
    return targets.length === 0 ? [] : [{ code, message: SENTENCES[code](list(targets)) }];
  });
}

/** Prints `a`, `a or b`, `a, b or 3 more`, without the final dot. */
function list(names: readonly Name[]): string {
  const named = names.slice(0, MAX_NAMED).map((name) => printName(name).slice(0, -1));
  const left = names.length - named.length;
  const last = left > 0 ? `${left} more` : (named.pop() as string);
  return named.length === 0 ? last : `${named.join(', ')} or ${last}`;
}
