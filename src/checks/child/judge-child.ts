// Evaluates the evidence of a child check and returns findings with a severity and who can fix them. All findings are
// advice: no status depends on them (docs/rules.md "The child's checks").

import type { Name } from '../../dns/name.ts';
import { CHILD_CODES, type ChildCode, type Place } from './child-codes.ts';
import { CHILD_SENTENCES, type ChildFinding } from './child-findings.ts';
import type { ChildEvidence, SoaFields } from './evidence.ts';
import { judgeNames } from './judge-names.ts';
import { judgeServers } from './judge-servers.ts';
import type { AsnOf, Observation } from './observation.ts';
import { type ChildProfile, DEFAULT_PROFILE } from './profile.ts';

interface JudgeOptions {
  /** Names of our own nameservers. Their faults concern the operator. */
  readonly own: ReadonlySet<Name>;
  /** Undefined skips the check that all servers are in one autonomous system. */
  readonly asnOf?: AsnOf | undefined;
  readonly profile?: ChildProfile;
}

export function judgeChild(
  evidence: ChildEvidence,
  { own, asnOf, profile = DEFAULT_PROFILE }: JudgeOptions,
): ChildFinding[] {
  if (evidence.servers.length === 0) return []; // the delegation check reports the reason
  const observations = [
    ...judgeNames(evidence, own, asnOf),
    ...judgeServers(evidence, own),
    ...judgeTimers(evidence, own),
    ...(evidence.isComplete ? [] : [{ code: 'CHILD_CHECK_CUT_SHORT' as const, names: [] }]),
  ];
  return observations.flatMap((observation) => {
    const severity = profile.get(observation.code);
    if (severity === undefined) return [];
    const { code, names } = observation;
    const message = CHILD_SENTENCES[code](observation);
    const place = placeOf(observation, own);
    return [{ code, severity, place, message, ...(names.length > 0 && { names }) }];
  });
}

/**
 * Faults that the owner can fix even if they concern only our servers: how many the parent lists, and which ones the zone
 * lists if it is copied from the owner's primary.
 */
const OF_OWNER: readonly ChildCode[] = ['TOO_FEW_NAMES', 'NS_ONLY_AT_PARENT'];

/** Returns `operator` if a fault concerns only our servers, because no owner can fix it. */
function placeOf({ code, names }: Observation, own: ReadonlySet<Name>): Place {
  const areOurs = names.length > 0 && names.every((name) => own.has(name));
  return areOurs && !OF_OWNER.includes(code) ? 'operator' : CHILD_CODES[code].place;
}

/** Limits of Zonemaster's zone02 to zone06, based on RFC 1912 §2.2 and RFC 2308 §5. */
const MIN_REFRESH = 14_400;
const MIN_RETRY = 3600;
const MIN_EXPIRE = 604_800;
const LEAST_MINIMUM = 300;
const MOST_MINIMUM = 86_400;

/** Skips zones that only our nameservers serve: such zones are not transferred, so their timers have no effect. */
function judgeTimers({ addresses }: ChildEvidence, own: ReadonlySet<Name>): Observation[] {
  const answering = addresses.filter(({ soa }) => soa.outcome === 'answer');
  const soa: SoaFields | undefined = answering[0]?.soa.soa;
  const names = [...new Set(answering.flatMap(({ servers }) => servers))];
  if (soa === undefined || names.every((name) => own.has(name))) return [];
  const { refresh, retry, expire, minimum } = soa;
  const found = (code: ChildCode, isWrong: boolean, detail: string | number): Observation[] =>
    isWrong ? [{ code, names, detail: String(detail) }] : [];
  return [
    ...found('SOA_REFRESH_LOW', refresh < MIN_REFRESH, refresh),
    ...found('SOA_RETRY_NOT_BELOW_REFRESH', retry >= refresh, `${retry} and ${refresh}`),
    ...found('SOA_RETRY_LOW', retry < MIN_RETRY, retry),
    ...found('SOA_EXPIRE_LOW', expire < MIN_EXPIRE || expire < refresh, expire),
    ...found('SOA_MINIMUM_OUT_OF_RANGE', minimum < LEAST_MINIMUM || minimum > MOST_MINIMUM, minimum),
  ];
}
