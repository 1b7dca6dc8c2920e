// Follows the keys of the root as they are rolled (RFC 5011): a new key that the old ones sign for 30 days is trusted, and one
// that revokes itself never again. The root's DS records that were configured are where this begins.
//
//   new ─▶ pending ─ 30 days in every set ─▶ valid ◀─▶ missing
//             └ gone: forgotten                └─ revoked ◀─┘  for good

import { DIGEST, dsDigest } from '../../dns/dnssec/ds-digest.ts';
import { keyTag } from '../../dns/dnssec/key-tag.ts';
import { ROOT } from '../../dns/name.ts';
import { DS } from '../../dns/record/types/ds.ts';
import { WireReader } from '../../dns/record/wire-reader.ts';
import type { RootKeys } from './root-keys.ts';

export type AnchorState = 'pending' | 'valid' | 'missing' | 'revoked';

export interface RolledAnchor {
  /** The rdata of the DNSKEY record, without REVOKE. */
  readonly key: Uint8Array;
  readonly state: AnchorState;
  /** When the state began, in milliseconds since 1970. */
  readonly since: number;
}

/** RFC 5011 §2.4.1. */
const HOLD_DOWN_MS = 30 * 86_400_000;
/** More keys than a roll needs only serve to fill the table. */
const MAX_ANCHORS = 16;

/** What is remembered after one look at the root's keys. `configured`: the rdata of DS records. */
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
    // A clock that was set back starts the 30 days again.
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

/** The rdata of the DS records to trust: those that were configured and are not revoked, and those of keys that were rolled in. */
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

/** Undefined: forgotten. `present` undefined: the set did not validate, so it says nothing of keys that are not there. */
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

/** The rdata of the DS record of a key of the root. */
export function dsOf(key: Uint8Array): Uint8Array {
  const digest = dsDigest(ROOT, key, DIGEST.SHA256) as Uint8Array;
  return Uint8Array.from(
    DS.encode({ keyTag: keyTag(key), algorithm: key[3] as number, digestType: DIGEST.SHA256, digest }),
  );
}
