// Signs a zone as it stands, in a thread and without a lock: what is to be written comes piece by piece.

import type { Name } from '../../dns/name.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { remakeBefore, signatureTimes } from '../../zone/signing/validity.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { noteStandingNames } from './hashed-names.ts';
import { readPages } from './read-zone-rows.ts';
import { noteSignatures, zoneKeys } from './sign-change.ts';
import type { SignedZone } from './signed-zone.ts';
import { SigningLane } from './signing-lane.ts';

/** Nobody waits for these. */
const wholeLane = new SigningLane({
  waiting: 8,
  limits: { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 32 },
});

/**
 * Names that change meanwhile may be seen as they were before or after. Nothing comes where the zone has no apex. Throws
 * DnssecUnavailable, SigningThreadError; rejects with the signal's reason when that aborts.
 */
export async function* signWhole(
  db: Database,
  { id: zoneId, apex }: { readonly id: number; readonly apex: Name },
  signed: SignedZone,
  signal: AbortSignal,
): AsyncGenerator<OwnerRows[]> {
  if (signed.denial === 'nsec3') await noteStandingNames(db, zoneId);
  const at = Math.floor((await currentTime(db)).getTime() / 1000);
  const times = signatureTimes(apex, at);
  const keys = await zoneKeys(db, signed);
  await noteSignatures(db, signed.id, times.expiration);
  const job = {
    apex,
    denial: signed.denial,
    keys,
    remakeBefore: remakeBefore(at, 'edit'),
    times,
    work: { kind: 'whole', signed } as const,
  };
  const read = () => readPages(db, zoneId);
  yield* wholeLane.run(job, { given: read(), read }, signal);
}
