// Selects the findings that require the owner's action, and when to mail them. The DS set is the one part of a signed
// domain that only its owner can change, and owners rarely check a domain that works.

import { DAY_MS } from '../rules.ts';
import type { DnssecFinding } from './dnssec-findings.ts';

interface OwnersDuty {
  /** Sentences of the findings. */
  readonly message: string;
  /** True if validating resolvers reject the domain. */
  readonly isUrgent: boolean;
}

const DUTIES: ReadonlySet<DnssecFinding['code']> = new Set([
  'DS_WANTED',
  'DS_REPLACE',
  'DS_REMOVE',
  'DS_OTHER',
  'DS_MISTYPED',
  'DS_EXTRA',
  'DS_WEAK',
  'DS_LEFT_BEHIND',
  'DS_UNSIGNED_SERVERS',
]);
/** Maximum number of sentences in a mail. The parent's data can cause many findings. */
const MOST_SENTENCES = 3;

/** Returns undefined if the owner need not do anything. */
export function ownersDuty(findings: readonly DnssecFinding[]): OwnersDuty | undefined {
  const duties = findings.filter(({ code }) => DUTIES.has(code));
  if (duties.length === 0) return undefined;
  const isError = ({ severity }: DnssecFinding) => severity === 'error';
  const ordered = [...duties.filter(isError), ...duties.filter((duty) => !isError(duty))];
  return {
    message: ordered
      .slice(0, MOST_SENTENCES)
      .map(({ message }) => message)
      .join('\n\n'),
    isUrgent: duties.some(isError),
  };
}

/** Most owners act earlier through the API, and registries through CDS. */
const FIRST_AFTER_MS = 3 * DAY_MS;
const URGENT_AFTER_MS = DAY_MS;
const AGAIN_AFTER_MS = 30 * DAY_MS;

/** All times are milliseconds since 1970. `wantedSince`: since when there has been any action to take. */
export function isReminderDue(
  { isUrgent }: Pick<OwnersDuty, 'isUrgent'>,
  { wantedSince, remindedAt }: { readonly wantedSince: number; readonly remindedAt: number | undefined },
  at: number,
): boolean {
  if (at - wantedSince < (isUrgent ? URGENT_AFTER_MS : FIRST_AFTER_MS)) return false;
  return remindedAt === undefined || at - remindedAt >= AGAIN_AFTER_MS;
}
