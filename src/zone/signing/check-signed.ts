// Checks that a signed zone is consistent: each set that must be signed has valid signatures, no other set has any, and
// the ring of denials is closed, with exactly the required owners and types. Shares only the rules with the planner,
// and none of its steps.

import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { type Name, printName } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import { soaNumbers } from '../build-zone.ts';
import type { RecordSet, ZoneRecord } from '../zone.ts';
import { describeSet } from '../zone-problem.ts';
import { checkRing, parametersOf, type SignedFault } from './check-ring.ts';
import { type Depth, depthOf, isSigned } from './signed-types.ts';
import { flagsOf, KEY_FLAGS } from './signing-key.ts';
import { groupRecords, recordsByOwner, type StandingName } from './standing.ts';
import { type PublishedKey, verifySet } from './verify-set.ts';

/** Number of sets verified between two pauses, which takes some milliseconds. */
const SETS_A_PAUSE = 16;

/**
 * Yields all faults at the time `at` (seconds since 1970), and regularly `undefined`, so that the caller can pause.
 * Owners must be folded, and rdata well formed.
 */
export function* findFaults(
  apex: Name,
  records: Iterable<ZoneRecord>,
  at: number,
): Generator<SignedFault | undefined> {
  const zone = readZone(apex, records);
  if (zone === undefined) return yield withoutKeys(apex, records);
  yield* checkRing({ ...zone, ttl: soaNumbers(zone.soa).negativeTtl });
  yield* checkSets(zone, at);
}

/**
 * Does the same for the signatures of some names, without their denials. `records` has all those of the names, of the
 * names above them, and of the apex.
 */
export function* findSignatureFaults(
  apex: Name,
  records: Iterable<ZoneRecord>,
  at: number,
): Generator<SignedFault | undefined> {
  const zone = readZone(apex, records);
  if (zone === undefined) yield withoutKeys(apex, records);
  else yield* checkSets(zone, at);
}

interface ReadZone {
  readonly apex: Name;
  readonly names: ReadonlyMap<Name, StandingName>;
  readonly depthOf: (name: Name) => Depth;
  readonly soa: RecordSet;
  readonly keys: readonly PublishedKey[];
}

/** Returns undefined if the apex has no SOA or no key. */
function readZone(apex: Name, records: Iterable<ZoneRecord>): ReadZone | undefined {
  const names = new Map(
    [...recordsByOwner(records)].map(([owner, rows]) => [owner, groupRecords(owner, rows)]),
  );
  const sets = names.get(apex)?.sets;
  const soa = sets?.get(TYPE.SOA);
  const keys = (sets?.get(TYPE.DNSKEY)?.rdata ?? []).filter(isZoneKey).map(publishedKey);
  if (soa === undefined || keys.length === 0) return undefined;
  const isCut = (name: Name) => names.get(name)?.sets.has(TYPE.NS) === true;
  return { apex, names, depthOf: (name) => depthOf(name, apex, isCut), soa, keys };
}

function withoutKeys(apex: Name, records: Iterable<ZoneRecord>): SignedFault {
  const types = new Set([...records].map(({ type }) => type));
  const isSigned = types.has(TYPE.RRSIG) || types.has(TYPE.DNSKEY);
  const text = isSigned ? 'has no SOA or no key' : 'is not signed';
  return { code: 'NO_KEYS', name: apex, text: `${printName(apex)} ${text}` };
}

function* checkSets(
  { apex, names, depthOf: depth, keys }: ReadZone,
  at: number,
): Generator<SignedFault | undefined> {
  const other = parametersOf(names.get(apex)) === undefined ? TYPE.NSEC3 : TYPE.NSEC;
  let verified = 0;
  for (const [owner, { sets, signatures }] of names) {
    const place = depth(owner);
    for (const set of sets.values()) {
      if (set.type === other) continue;
      if (++verified % SETS_A_PAUSE === 0) yield undefined;
      yield checkSet({ ...set, signatures: signatures.get(set.type) ?? [] }, place, { zone: apex, keys, at });
    }
    for (const type of signatures.keys())
      if (!sets.has(type))
        yield {
          code: 'SIGNATURE_OF_NOTHING',
          name: owner,
          text: `${describeSet(owner, type)} has signatures but no records`,
        };
  }
}

function checkSet(
  set: RecordSet,
  depth: Depth,
  verifying: { zone: Name; keys: readonly PublishedKey[]; at: number },
): SignedFault | undefined {
  const { owner, type, signatures = [] } = set;
  const what = describeSet(owner, type);
  if (!isSigned(type, depth)) {
    if (signatures.length === 0) return undefined;
    return { code: 'NOT_TO_BE_SIGNED', name: owner, text: `${what} is signed but must not be` };
  }
  if (signatures.length === 0) return { code: 'NOT_SIGNED', name: owner, text: `${what} has no signature` };
  const fault = verifySet(set, verifying);
  return fault === undefined ? undefined : { code: 'BAD_SIGNATURE', name: owner, text: `${what}: ${fault}` };
}

/** A key without this flag does not sign a zone (RFC 4034 §2.1.1). */
function isZoneKey(dnskey: Uint8Array): boolean {
  return (flagsOf(dnskey) & KEY_FLAGS.ZONE) !== 0;
}

function publishedKey(dnskey: Uint8Array): PublishedKey {
  return { tag: keyTag(dnskey), algorithm: dnskey[3] as number, publicKey: dnskey.subarray(4) };
}
