// Tracks rollovers of the root keys (RFC 5011): a new key is trusted after the old keys have signed it for 30 days, and a
// revoked key is never trusted again. The initial anchors are the configured DS records of the root.
//
//   new ─▶ pending ─ 30 days in every set ─▶ valid ◀─▶ missing
//             └ gone: forgotten                └─ revoked ◀─┘  for good

import { DIGEST, dsDigest } from '../../dns/dnssec/ds-digest.ts';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { ROOT } from '../../dns/name.ts';
import { DS } from '../../dns/record/types/dnssec.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import type { RootKeys } from './root-keys.ts';

export type AnchorState = 'pending' | 'valid' | 'missing' | 'revoked';

export interface RolledAnchor {
  /** Rdata of the DNSKEY record without the REVOKE bit. */
  readonly key: Uint8Array;
  readonly state: AnchorState;
  /** When the state began, in milliseconds since 1970. */
  readonly since: number;
}

/** Hold-down time (RFC 5011 §2.4.1). */
const HOLD_DOWN_MS = 30 * 86_400_000;
/** A rollover needs few keys. The limit keeps an attacker from filling the table. */
const MAX_ANCHORS = 16;

/** Returns the anchors after an observation of the root's keys. `configured`: rdata of DS records. */
export function rollAnchors(
  before: readonly RolledAnchor[],
  { present, revoked }: RootKeys,
  configured: readonly Uint8Array[],
  at: number,
): RolledAnchor[] {
  const isNamed = (key: Uint8Array) => configured.some((ds) => fits(ds, key));
  const after = before.flatMap((anchor): RolledAnchor[] => {
    const to = has(revoked, anchor.key) ? 'revoked' : nextState(anchor, present, at);
    if (to === undefined || (to === 'revoked' && anchor.state === 'pending')) return [];
    // If the clock was set back, the 30 days start again.
    const isSame = to === anchor.state && anchor.since <= at;
    return [isSame ? anchor : { ...anchor, state: to, since: at }];
  });
  const known = before.map(({ key }) => key);
  for (const key of [...revoked, ...(present ?? [])]) {
    if (has(known, key) || after.length >= MAX_ANCHORS) continue;
    const isRevoked = has(revoked, key);
    if (isRevoked && !isNamed(key)) continue;
    known.push(key);
    after.push({ key, state: isRevoked ? 'revoked' : isNamed(key) ? 'valid' : 'pending', since: at });
  }
  return after;
}

/**
 * Returns the rdata of the DS records to trust: the configured ones that are not revoked, and those of keys added by
 * rollovers.
 */
export function anchorsToTrust(
  configured: readonly Uint8Array[],
  rolled: readonly RolledAnchor[],
): Uint8Array[] {
  const revoked = rolled.filter(({ state }) => state === 'revoked');
  const trusted = rolled.filter(({ state }) => state === 'valid' || state === 'missing');
  const kept = configured.filter((ds) => !revoked.some(({ key }) => fits(ds, key)));
  const added = trusted.filter(({ key }) => !kept.some((ds) => fits(ds, key)));
  return [...kept, ...added.map(({ key }) => dsOf(key))];
}

/**
 * Returns undefined if the key is forgotten. If `present` is undefined, the set did not validate, so it says nothing about
 * missing keys.
 */
function nextState(
  { key, state, since }: RolledAnchor,
  present: readonly Uint8Array[] | undefined,
  at: number,
): AnchorState | undefined {
  if (present === undefined || state === 'revoked') return state;
  const isPresent = has(present, key);
  if (state !== 'pending') return isPresent ? 'valid' : 'missing';
  if (!isPresent) return undefined;
  return at - since >= HOLD_DOWN_MS ? 'valid' : 'pending';
}

function has(keys: readonly Uint8Array[], wanted: Uint8Array): boolean {
  return keys.some((key) => Buffer.compare(key, wanted) === 0);
}

function fits(ds: Uint8Array, key: Uint8Array): boolean {
  const { digestType, digest } = DS.decode(new WireReader(ds));
  const own = dsDigest(ROOT, key, digestType);
  return own !== undefined && Buffer.compare(own, digest) === 0;
}

/** Returns the rdata of the DS record for a root key. */
export function dsOf(key: Uint8Array): Uint8Array {
  const digest = dsDigest(ROOT, key, DIGEST.SHA256) as Uint8Array;
  return Uint8Array.from(
    DS.encode({ keyTag: keyTag(key), algorithm: key[3] as number, digestType: DIGEST.SHA256, digest }),
  );
}
