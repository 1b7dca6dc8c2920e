// Checks that the denials of a signed zone are exactly those required. Ignores records of the other kind and NSEC3
// chains with parameters other than those at the apex, which remain for a while after a change of the method.

import { canonicalKey } from '../../dns/dnssec/canonical-key.ts';
import { type Nsec3, readNsec, readNsec3 } from '../../dns/dnssec/denial.ts';
import { nsec3Hash } from '../../dns/dnssec/nsec3-hash.ts';
import { type Name, parentOf, printName } from '../../dns/name.ts';
import { NSEC3PARAM } from '../../dns/record/types/dnssec.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import { TYPE, typeMnemonic } from '../../dns/type-codes.ts';
import { type DenialKind, type Depth, denialTypes, isMade } from './signed-types.ts';
import type { StandingName } from './standing.ts';

type SignedFaultCode =
  | 'NO_KEYS'
  | 'NOT_SIGNED'
  | 'BAD_SIGNATURE'
  | 'NOT_TO_BE_SIGNED'
  | 'SIGNATURE_OF_NOTHING'
  | 'DENIAL_MISSING'
  | 'DENIAL_OF_NOTHING'
  | 'DENIAL_TYPES'
  | 'DENIAL_NEXT'
  | 'DENIAL_TTL';

export interface SignedFault {
  readonly code: SignedFaultCode;
  readonly name: Name;
  readonly text: string;
}

interface ZoneToCheck {
  readonly apex: Name;
  readonly names: ReadonlyMap<Name, StandingName>;
  readonly depthOf: (name: Name) => Depth;
  /** The required TTL of denials (RFC 9077 §3). */
  readonly ttl: number;
}

/** One denial, required or found. */
interface Link {
  readonly name: Name;
  readonly types: ReadonlySet<number>;
}

interface Wanted extends Link {
  /** True if opt-out may omit it: an insecure cut, or a name that only has such cuts below (RFC 5155 §6). */
  readonly isOptional: boolean;
}

interface Found extends Link {
  readonly next: string;
  readonly ttl: number;
  readonly optOut: boolean;
}

/** Checks RFC 4034 §4 and RFC 4035 §2.3 for NSEC, or RFC 5155 §7.1 for NSEC3. */
export function* checkRing(zone: ZoneToCheck): Generator<SignedFault> {
  const parameters = parametersOf(zone.names.get(zone.apex));
  const kind = parameters === undefined ? 'nsec' : 'nsec3';
  const placeOf = (name: Name) =>
    parameters === undefined
      ? canonicalKey(name, zone.apex)
      : textOf(nsec3Hash(name, parameters.salt, parameters.iterations));
  const wanted = wantedLinks(zone, kind, placeOf);
  const found = parameters === undefined ? foundNsec(zone) : foundNsec3(zone, parameters);
  const ring = [...wanted.keys()].filter((place) => found.has(place)).sort(compare);
  const nextOf = new Map(ring.map((place, i) => [place, ring[(i + 1) % ring.length] as string]));
  const optOut = [...found].some(([, link]) => link.optOut)
    ? [...found].sort(([a], [b]) => compare(a, b))
    : [];
  for (const [place, link] of wanted) {
    const own = found.get(place);
    if (own !== undefined) yield* linkFaults(link, own, { next: nextOf.get(place), ttl: zone.ttl });
    else if (!link.isOptional || !isCoveredByOptOut(place, optOut))
      yield { code: 'DENIAL_MISSING', name: link.name, text: `${printName(link.name)} has no denial` };
  }
  for (const [place, { name }] of found)
    if (!wanted.has(place))
      yield {
        code: 'DENIAL_OF_NOTHING',
        name,
        text: `${printName(name)} is a denial that belongs to no name`,
      };
}

function* linkFaults(
  { name, types }: Link,
  found: Found,
  { next, ttl }: { next: string | undefined; ttl: number },
): Generator<SignedFault> {
  const printed = printName(name);
  if (found.next !== next)
    yield { code: 'DENIAL_NEXT', name, text: `the denial of ${printed} does not point to the next one` };
  if (found.ttl !== ttl)
    yield { code: 'DENIAL_TTL', name, text: `the denial of ${printed} has the TTL ${found.ttl}, not ${ttl}` };
  const [shown, wanted] = [typesText(found.types), typesText(types)];
  if (shown !== wanted)
    yield { code: 'DENIAL_TYPES', name, text: `the denial of ${printed} shows "${shown}", not "${wanted}"` };
}

function typesText(types: ReadonlySet<number>): string {
  return [...types]
    .sort((a, b) => a - b)
    .map(typeMnemonic)
    .join(' ');
}

interface HashParameters {
  readonly iterations: number;
  readonly salt: Uint8Array;
}

/** Returns the parameters of the NSEC3PARAM with flags 0 at the apex, which a zone with NSEC3 has (RFC 5155 §4.1.2). */
export function parametersOf(apex: StandingName | undefined): HashParameters | undefined {
  const rdata = apex?.sets.get(TYPE.NSEC3PARAM)?.rdata ?? [];
  return rdata.map((octets) => NSEC3PARAM.decode(new WireReader(octets))).find(({ flags }) => flags === 0);
}

function wantedLinks(
  { apex, names, depthOf }: ZoneToCheck,
  kind: DenialKind,
  placeOf: (name: Name) => string,
): Map<string, Wanted> {
  const links = new Map<Name, Wanted>();
  for (const [name, { sets }] of names) {
    const depth = depthOf(name);
    const isThere = [...sets.keys()].some((type) => !isMade(type));
    if (!isThere || depth === 'below') continue;
    const isOptional = depth === 'cut' && !sets.has(TYPE.DS);
    links.set(name, { name, types: new Set(denialTypes(sets.keys(), depth, kind)), isOptional });
  }
  for (const { name, isOptional } of kind === 'nsec3' ? [...links.values()] : [])
    for (let above = name; above !== apex; ) {
      above = parentOf(above);
      const own = links.get(above);
      if (own === undefined) links.set(above, { name: above, types: new Set(), isOptional });
      else if (own.types.size === 0 && !isOptional) links.set(above, { ...own, isOptional: false });
    }
  return new Map([...links].map(([name, link]) => [placeOf(name), link]));
}

function foundNsec({ apex, names }: ZoneToCheck): Map<string, Found> {
  const found = new Map<string, Found>();
  for (const [owner, { sets }] of names) {
    const set = sets.get(TYPE.NSEC);
    for (const rdata of set?.rdata ?? []) {
      const { next, types } = readNsec(owner, rdata);
      const link = { name: owner, types, next: canonicalKey(next, apex), ttl: set?.ttl ?? 0, optOut: false };
      found.set(canonicalKey(owner, apex), link);
    }
  }
  return found;
}

function foundNsec3({ apex, names }: ZoneToCheck, { iterations, salt }: HashParameters): Map<string, Found> {
  const found = new Map<string, Found>();
  const isOfChain = (read: Nsec3 | undefined): read is Nsec3 =>
    read?.iterations === iterations && Buffer.compare(read.salt, salt) === 0;
  for (const [owner, { sets }] of names) {
    const set = sets.get(TYPE.NSEC3);
    for (const read of (set?.rdata ?? []).map((rdata) => readNsec3(owner, rdata, apex)).filter(isOfChain)) {
      const { hash, next, types, optOut } = read;
      found.set(textOf(hash), { name: owner, types, next: textOf(next), ttl: set?.ttl ?? 0, optOut });
    }
  }
  return found;
}

/** @param sorted empty if no denial has opt-out */
function isCoveredByOptOut(place: string, sorted: readonly [string, Found][]): boolean {
  const before = sorted.findLast(([each]) => each < place) ?? sorted.at(-1);
  return before?.[1].optOut === true;
}

function textOf(octets: Uint8Array): string {
  return Buffer.from(octets).toString('latin1');
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
