// Zones signed with one key, for tests that do not depend on the signer.

import type { Name } from '../../../src/dns/name.ts';
import { buildZone } from '../../../src/zone/build-zone.ts';
import { recordsOfZone } from '../../../src/zone/records-of-zone.ts';
import type { Zone, ZoneRecord } from '../../../src/zone/zone.ts';
import type { DenialStyle } from '../dnssec/denial-chain.ts';
import { signRecords } from '../dnssec/sign-records.ts';
import { makeKey } from '../dnssec/signing.ts';

const NSEC3 = { kind: 'nsec3', iterations: 0, salt: new Uint8Array(), optOut: false } as const;

export const DENIAL_STYLES: readonly DenialStyle[] = [
  { kind: 'nsec' },
  NSEC3,
  { ...NSEC3, optOut: true },
  { ...NSEC3, iterations: 7, salt: Uint8Array.of(0xab, 0, 0xcd) },
];

/** Ed25519 signatures are deterministic, so unchanged sets keep theirs. */
const KEY = makeKey(15);
const TIME = { inception: 1_700_000_000, expiration: 1_800_000_000 };

export function signedRecords(apex: Name, records: readonly ZoneRecord[], denial: DenialStyle): ZoneRecord[] {
  return signRecords(apex, records, { key: KEY, time: TIME, denial });
}

export function signedZone(zone: Zone, denial: DenialStyle): Zone {
  return zoneOfRecords(zone.apex, signedRecords(zone.apex, [...recordsOfZone(zone)], denial));
}

export function zoneOfRecords(apex: Name, records: readonly ZoneRecord[]): Zone {
  const built = buildZone(apex, records);
  if (built.kind === 'refused') throw new Error(`a zone is refused: ${built.problems[0]?.message}`);
  return built.zone;
}
