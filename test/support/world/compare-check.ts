// Compares what a check in a small internet came to with what its expect.txt wants: both as plain values in words, so that
// a difference can be read.

import { isDeepStrictEqual } from 'node:util';
import type {
  CheckState,
  Expected,
  NameserverSet,
  Preset,
} from '../../../src/checks/delegation/check-state.ts';
import type { Evidence } from '../../../src/checks/delegation/evidence.ts';
import type { Finding } from '../../../src/checks/delegation/findings.ts';
import type { Decision } from '../../../src/checks/delegation/next-status.ts';
import type { Judgement } from '../../../src/checks/delegation/verdict.ts';
import { type Name, printName } from '../../../src/dns/name.ts';
import type { Expectations, ExpectedCheck, ExpectedPreset } from './read-expectations.ts';
import { canonicalAddress } from './read-world.ts';

type Outcome = Record<string, unknown>;

/** What a domain's life begins with; the times of the world are counted from `beginning`. */
export function stateOf(
  { status, preset, misses }: NonNullable<Expectations['state']>,
  sets: readonly NameserverSet[],
  beginning: number,
): CheckState {
  const moved = (span: typeof misses) =>
    span && { count: span.count, firstAt: beginning + span.firstAt, lastAt: beginning + span.lastAt };
  const { kind, taken } = preset;
  return {
    status,
    since: beginning,
    misses: moved(misses),
    conclusive: undefined,
    preset:
      kind === 'standing'
        ? { kind, taken: taken.map((number) => sets[number - 1] as NameserverSet) }
        : { kind: kind as 'clear' | 'undecided' },
  };
}

/** As the store loads it: without the sets that a standing preset has taken. */
export function acceptedBy(
  sets: readonly NameserverSet[],
  preset: Preset | undefined,
  ourAddresses?: readonly string[],
): Expected {
  const taken = preset?.kind === 'standing' ? preset.taken : [];
  return {
    sets: sets.filter((set) => !taken.some((other) => sameSet(set, other))),
    allSets: sets,
    ...(ourAddresses !== undefined && { ourAddresses: new Set(ourAddresses) }),
  };
}

function sameSet(a: NameserverSet | undefined, b: NameserverSet | undefined): boolean {
  return a !== undefined && b !== undefined && [...a].sort().join() === [...b].sort().join();
}

function numberOf(set: NameserverSet | undefined, sets: readonly NameserverSet[]): number | undefined {
  const index = sets.findIndex((other) => sameSet(set, other));
  return index < 0 ? undefined : index + 1;
}

/** `decision` is undefined in a world without a status. */
export function outcomeOf(
  check: ExpectedCheck,
  sets: readonly NameserverSet[],
  seen: { evidence: Evidence; judgement: Judgement; decision: Decision | undefined; violations: string[] },
): Outcome {
  const { evidence, judgement, decision, violations } = seen;
  const { failure } = evidence;
  return {
    verdict: judgement.verdict,
    parent: evidence.parent && printName(evidence.parent),
    matched: numberOf(judgement.matched, sets),
    ...(check.ns === undefined ? {} : { ns: printAll(judgement.observed ?? []) }),
    ...(check.failure === undefined
      ? {}
      : { failure: failure && `${failure.reason} ${printName(failure.zone)}` }),
    ...(check.servers === undefined ? {} : { servers: evidence.servers.map(serverLine).sort() }),
    ...(check.serverCount === undefined ? {} : { serverCount: evidence.servers.length }),
    findings: findingsIn(decision?.findings ?? judgement.findings, check),
    violations,
    ...(check.status === undefined ? {} : { status: decision?.to }),
    ...(check.misses === undefined ? {} : { misses: decision?.state.misses?.count ?? 0 }),
    ...(check.preset === undefined ? {} : { preset: presetIn(decision?.state.preset, sets) }),
  };
}

function serverLine({ address, outcome, transport }: Evidence['servers'][number]): string {
  const where = transport === 'database' ? transport : canonicalAddress(address);
  // without a reply there is no transport
  return `${where} ${outcome}${transport === 'tcp' && outcome !== 'bad' && outcome !== 'timeout' ? ' tcp' : ''}`;
}

/** Their codes, and the names where the world gives some. */
function findingsIn(findings: readonly Finding[], check: ExpectedCheck): string[] {
  return findings
    .filter(({ code }) => !check.findings.some((one) => one.optional && one.code === code))
    .map(({ code, names }) => {
      const isNamed = check.findings.some((one) => one.code === code && one.names !== undefined);
      return isNamed ? `${code}(${printAll(names ?? []).join()})` : code;
    })
    .sort();
}

function presetIn(preset: Preset | undefined, sets: readonly NameserverSet[]): ExpectedPreset {
  const taken = preset?.kind === 'standing' ? preset.taken : [];
  return { kind: preset?.kind ?? '', taken: taken.map((set) => numberOf(set, sets) ?? 0).sort() };
}

export function wantedOf(check: ExpectedCheck): Outcome {
  const { verdict, parent, matched, ns, failure, servers, serverCount, status, misses, preset } = check;
  const findings = check.findings.filter(({ optional }) => !optional);
  return {
    verdict,
    parent: parent && printName(parent),
    matched,
    ...(ns === undefined ? {} : { ns: printAll(ns) }),
    ...(failure === undefined ? {} : { failure: `${failure.reason} ${printName(failure.zone)}` }),
    ...(servers === undefined ? {} : { servers: [...servers].sort() }),
    ...(serverCount === undefined ? {} : { serverCount }),
    findings: findings
      .map(({ code, names }) => (names === undefined ? code : `${code}(${printAll(names).join()})`))
      .sort(),
    violations: [],
    ...(status === undefined ? {} : { status }),
    ...(misses === undefined ? {} : { misses }),
    ...(preset === undefined ? {} : { preset }),
  };
}

function printAll(names: readonly Name[]): string[] {
  return names.map(printName).sort();
}

/** Each field that differs, for the reader of a failed test. */
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

/** For the reader of a failed test. */
export function printEvidence({ walk, servers, failure, queries }: Evidence): string {
  const zones = walk.map(({ zone }) => printName(zone)).join(' → ');
  const said = servers.map(
    (server) => `${serverLine(server)}${server.error === undefined ? '' : ` (${server.error})`}`,
  );
  return `${zones}; ${said.join(', ')}; ${failure?.message ?? ''}; ${queries} packets`;
}
