// Compares the result of a check in a small internet with its expect.txt, both as plain text values, so that differences
// are readable.

import { isDeepStrictEqual } from 'node:util';
import { judgeName } from '../../../src/checks/claims/judge-name.ts';
import { type CheckedClaim, isSameSet } from '../../../src/checks/claims/name-claims.ts';
import type { NameserverSet } from '../../../src/checks/delegation/check-state.ts';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import type { Finding } from '../../../src/checks/delegation/finding.ts';
import { judgeDelegation } from '../../../src/checks/delegation/judge-delegation.ts';
import type { Decision, Rules } from '../../../src/checks/delegation/next-status.ts';
import type { Judgement } from '../../../src/checks/delegation/verdict.ts';
import { printName } from '../../../src/dns/name.ts';
import { claimState, madeClaim, madeName } from './made-claims.ts';
import { type Expectations, type ExpectedCheck, type Outcome, printAll } from './read-expectations.ts';
import { canonicalAddress } from './read-world.ts';

/** Returns the initial state of a domain. The times of the world are relative to `beginning`. */
export function claimOf(
  { status, fresh, spent, misses }: NonNullable<Expectations['state']>,
  sets: readonly NameserverSet[],
  beginning: number,
): CheckedClaim {
  const moved = (span: typeof misses) =>
    span && { count: span.count, firstAt: beginning + span.firstAt, lastAt: beginning + span.lastAt };
  const conclusive = fresh ? undefined : { at: beginning, oursShown: false, othersShown: false };
  return madeClaim(
    1,
    claimState(status, { since: beginning, misses: moved(misses), conclusive }),
    sets.filter((_, i) => !spent.includes(i + 1)).map((names) => ({ names, exclusive: false })),
  );
}

interface JudgedWorld {
  readonly judgement: Judgement;
  readonly decision?: Decision;
  /** The claim's state for the next check. Undefined in a world without a status. */
  readonly claim?: CheckedClaim;
}

/** Evaluates like a worker, for the only claim of the name. */
export function judgeWorld(
  evidence: Evidence,
  claim: CheckedClaim | undefined,
  { sets, ourAddresses: addresses }: Pick<Expectations, 'sets' | 'ourAddresses'>,
  { rules, frozen }: { readonly rules: Rules; readonly frozen: boolean },
): JudgedWorld {
  const ours = new Set(sets.flat());
  const ourAddresses = addresses === undefined ? {} : { ourAddresses: new Set(addresses) };
  if (claim === undefined) return { judgement: judgeDelegation(evidence, { sets, ours, ...ourAddresses }) };
  const name = madeName([claim], { ours, staticSetCount: sets.length });
  const { claims } = judgeName(name, evidence, {
    rules,
    isFrozen: frozen,
    ...ourAddresses,
    random: () => 0.5,
  });
  const [judged] = claims;
  if (judged === undefined) throw new Error('the claim was not judged');
  const { judgement, decision, setsAfter } = judged;
  const left = setsAfter?.map((names) => ({ names, exclusive: false }));
  return { judgement, decision, claim: { ...claim, state: decision.state, sets: left ?? claim.sets } };
}

function numberOf(set: NameserverSet | undefined, sets: readonly NameserverSet[]): number | undefined {
  const index = sets.findIndex((other) => set !== undefined && isSameSet(set, other));
  return index < 0 ? undefined : index + 1;
}

/** Returns the fields that the check expects. `decision` is undefined in a world without a status. */
export function outcomeOf(
  check: ExpectedCheck,
  sets: readonly NameserverSet[],
  seen: JudgedWorld & { readonly evidence: Evidence; readonly violations: string[] },
): Outcome {
  const { evidence, judgement, decision, claim, violations } = seen;
  const { failure } = evidence;
  const all: Outcome = {
    verdict: judgement.verdict,
    parent: evidence.parent && printName(evidence.parent),
    matched: numberOf(judgement.matched, sets),
    ns: printAll(judgement.observed ?? []),
    failure: failure && `${failure.reason} ${printName(failure.zone)}`,
    servers: evidence.servers.map(serverLine).sort(),
    serverCount: evidence.servers.length,
    findings: findingsIn(decision?.findings ?? judgement.findings, check),
    violations,
    status: decision?.to,
    misses: decision?.state.misses?.count ?? 0,
    spent: spentOf(claim, sets),
  };
  return Object.fromEntries(Object.entries(all).filter(([field]) => field in check.wanted));
}

function serverLine({ address, outcome, transport }: Evidence['servers'][number]): string {
  const where = transport === 'database' ? transport : canonicalAddress(address);
  // no transport without a reply
  return `${where} ${outcome}${transport === 'tcp' && outcome !== 'bad' && outcome !== 'timeout' ? ' tcp' : ''}`;
}

/** Returns their codes, and the names if the world gives some. */
function findingsIn(findings: readonly Finding[], { wanted, optional }: ExpectedCheck): string[] {
  return findings
    .filter(({ code }) => !optional.includes(code))
    .map(({ code, names }) => {
      const isNamed = wanted.findings.some((one) => one.startsWith(`${code}(`));
      return isNamed ? `${code}(${printAll(names ?? []).join()})` : code;
    })
    .sort();
}

function spentOf(claim: CheckedClaim | undefined, sets: readonly NameserverSet[]): number[] {
  const isLeft = (set: NameserverSet) => claim?.sets.some(({ names }) => isSameSet(names, set));
  return sets.flatMap((set, i) => (isLeft(set) ? [] : [i + 1]));
}

export function printDifferences(got: Outcome, wanted: Outcome): string {
  const fields = [...new Set([...Object.keys(wanted), ...Object.keys(got)])];
  return fields
    .filter((field) => !isDeepStrictEqual(got[field], wanted[field]))
    .map((field) => `${field}: expected ${valueText(wanted[field])}, got ${valueText(got[field])}`)
    .join('; ');
}

function valueText(value: unknown): string {
  return JSON.stringify(value) ?? 'none';
}

export function printEvidence({ walk, servers, failure, queries }: Evidence): string {
  const zones = walk.map(({ zone }) => printName(zone)).join(' → ');
  const said = servers.map(
    (server) => `${serverLine(server)}${server.error === undefined ? '' : ` (${server.error})`}`,
  );
  return `${zones}; ${said.join(', ')}; ${failure?.message ?? ''}; ${queries} packets`;
}
