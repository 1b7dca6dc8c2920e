// Checks the record sets of one name against each other and against the names above it. All other rules concern single
// records, so a change of a zone requires this check only for the names that it touches.

import { NSEC3_SHA1 } from '../dns/dnssec/nsec3-hash.ts';
import { isWildcard, type Name, parentOf, printName } from '../dns/name.ts';
import { TYPE, typeMnemonic } from '../dns/type-codes.ts';
import { hashParameters } from './find-denials.ts';
import type { RecordSet, ZoneNode } from './zone.ts';
import { describeSet, type ProblemList, type ZoneProblem } from './zone-problem.ts';

const MAX_MESSAGE_OCTETS = 65535; // RFC 1035 §4.2.2

/** Checks the required and forbidden records at the apex. */
export function checkApex(
  apex: Name,
  sets: ReadonlyMap<number, RecordSet> | undefined,
  problems: ProblemList,
): void {
  const soa = sets?.get(TYPE.SOA);
  if (soa === undefined) problems.report('NO_SOA', `${printName(apex)} has no SOA`, apex, TYPE.SOA);
  else if (soa.rdata.length > 1) {
    const what = `${soa.rdata.length} SOA records, not one`;
    problems.report('MANY_SOA', `${printName(apex)} has ${what}`, apex, TYPE.SOA);
  }
  if (!sets?.has(TYPE.NS)) problems.report('NO_APEX_NS', `${printName(apex)} has no NS`, apex, TYPE.NS);
  if (sets?.has(TYPE.DS)) {
    const why = 'it belongs to the parent zone'; // RFC 4035 §2.4
    problems.report('DS_AT_APEX', `${printName(apex)} has a DS: ${why}`, apex, TYPE.DS);
  }
  checkHashParameters(apex, sets?.get(TYPE.NSEC3PARAM), problems);
}

/** Every query for a nonexistent name costs the iterations, and many validators reject more (RFC 9276 §3.2). */
const MAX_ITERATIONS = 50;

function checkHashParameters(apex: Name, set: RecordSet | undefined, problems: ProblemList): void {
  const report = (code: ZoneProblem['code'], what: string) =>
    problems.report(code, `${printName(apex)} has ${what}`, apex, TYPE.NSEC3PARAM);
  const chains = hashParameters(set);
  if (chains.length > 1) report('MANY_NSEC3PARAM', `${chains.length} NSEC3PARAM with flags 0, not one`); // RFC 5155 §7.3
  for (const { hashAlgorithm, iterations } of chains) {
    if (hashAlgorithm !== NSEC3_SHA1) {
      report(
        'NSEC3_ALGORITHM',
        `an NSEC3PARAM with the hash algorithm ${hashAlgorithm}: only 1 (SHA-1) is supported`,
      );
    }
    if (iterations > MAX_ITERATIONS) {
      report(
        'NSEC3_ITERATIONS',
        `an NSEC3PARAM with ${iterations} iterations: at most ${MAX_ITERATIONS} are served`,
      );
    }
  }
}

/** Checks the sets of one name against each other and against the names above it. */
export function checkNode(
  apex: Name,
  { name, sets }: ZoneNode,
  hasDname: (name: Name) => boolean,
  problems: ProblemList,
): void {
  if (name !== apex) {
    if (sets.has(TYPE.SOA)) {
      problems.report('SOA_BELOW_APEX', `${printName(name)} has a SOA but is not the apex`, name, TYPE.SOA);
    }
    if (sets.has(TYPE.NS)) checkCut(name, sets, problems);
    const above = dnameAbove(apex, name, hasDname);
    if (above !== undefined) {
      problems.report('BELOW_DNAME', `${printName(name)} is below the DNAME at ${printName(above)}`, name); // RFC 6672 §2.4
    }
  }
  if (sets.has(TYPE.CNAME)) checkAlias(name, sets, problems);
  const dname = sets.get(TYPE.DNAME);
  if (dname !== undefined && dname.rdata.length > 1) {
    problems.report('MANY_DNAME', `${printName(name)} has more than one DNAME`, name, TYPE.DNAME); // RFC 6672 §2.4
  }
}

/** Checks the size of each set of a name. */
export function checkSizes(name: Name, sets: Iterable<RecordSet>, problems: ProblemList): void {
  for (const set of sets) {
    if (smallestAnswerOctets(set) <= MAX_MESSAGE_OCTETS) continue;
    const what = describeSet(name, set.type);
    problems.report('SET_TOO_LARGE', `${what}: the set does not fit into a message`, name, set.type);
  }
}

/**
 * Returns the length of the smallest answer with the set and an OPT record, in which each owner is a pointer to the question.
 */
function smallestAnswerOctets({ owner, rdata, signatures = [] }: RecordSet): number {
  const OPT_OCTETS = 11;
  let octets = 12 + (isWildcard(owner) ? 255 : owner.length) + 4 + OPT_OCTETS;
  for (const one of [...rdata, ...signatures]) octets += 2 + 10 + one.length;
  return octets;
}

function checkCut(name: Name, sets: ReadonlyMap<number, RecordSet>, problems: ProblemList): void {
  if (isWildcard(name)) {
    const why = 'a wildcard cannot be delegated'; // RFC 4592 §4.2
    problems.report('NS_AT_WILDCARD', `${printName(name)} has NS: ${why}`, name, TYPE.NS);
  }
  if (sets.has(TYPE.DNAME)) {
    problems.report('DNAME_AND_NS', `${printName(name)} has both DNAME and NS`, name, TYPE.DNAME); // RFC 6672 §2.3
  }
}

function checkAlias(name: Name, sets: ReadonlyMap<number, RecordSet>, problems: ProblemList): void {
  if ((sets.get(TYPE.CNAME)?.rdata.length ?? 0) > 1) {
    problems.report('MANY_CNAME', `${printName(name)} has more than one CNAME`, name, TYPE.CNAME); // RFC 2181 §10.1
  }
  for (const type of sets.keys()) {
    if (type === TYPE.CNAME || type === TYPE.NSEC) continue; // RFC 4034 §4
    if (type === TYPE.DNAME) {
      problems.report('DNAME_AND_CNAME', `${printName(name)} has both DNAME and CNAME`, name, type); // RFC 6672 §2.4
    } else {
      const both = `CNAME and ${typeMnemonic(type)}`;
      problems.report('CNAME_AND_OTHER', `${printName(name)} has both ${both}`, name, type);
    }
  }
}

function dnameAbove(apex: Name, name: Name, hasDname: (name: Name) => boolean): Name | undefined {
  for (let above = name; above !== apex; ) {
    above = parentOf(above);
    if (hasDname(above)) return above;
  }
  return undefined;
}
