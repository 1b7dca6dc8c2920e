// Signs a zone as it is, in a thread and without a lock, and yields what is to be written piece by piece.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { remakeBefore, signatureTimes } from '../../zone/signing/validity.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { noteStandingNames } from './hashed-names.ts';
import { readPages } from './read-zone-rows.ts';
import { noteSignatures, zoneKeys } from './sign-change.ts';
import { otherDenial, type SignedZone } from './signed-zone.ts';
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

interface ZoneToChain {
  readonly id: number;
  readonly apex: Name;
  readonly signed: SignedZone;
  /** Gets the NSEC of every name that has one in the whole chain, where that is of NSEC. */
  readonly links: Map<Name, ZoneRecord>;
}

/**
 * Names that change meanwhile may be seen as they were before or after. Throws DnssecUnavailable, SigningThreadError; rejects with
 * the signal's reason when that aborts.
 */
export async function* signChain(
  db: Database,
  { id: zoneId, apex, signed, links }: ZoneToChain,
  signal: AbortSignal,
): AsyncGenerator<OwnerRows[]> {
  const denial = otherDenial(signed.denial);
  if (denial === 'nsec3') await noteStandingNames(db, zoneId);
  const at = Math.floor((await currentTime(db)).getTime() / 1000);
  const times = signatureTimes(apex, at);
  const keys = await zoneKeys(db, signed);
  const work = { kind: 'chain' } as const;
  const job = { apex, denial, keys, remakeBefore: remakeBefore(at, 'edit'), times, work };
  const read = () => noting(readPages(db, zoneId), denial === 'nsec' ? links : new Map());
  for await (const piece of wholeLane.run(job, { given: read(), read }, signal)) {
    for (const { owner, records } of piece) {
      const link = records.find(({ type }) => type === TYPE.NSEC);
      if (link === undefined) links.delete(owner);
      else links.set(owner, link);
    }
    yield piece;
  }
}

async function* noting(
  pages: AsyncIterable<ZoneRecord[]>,
  links: Map<Name, ZoneRecord>,
): AsyncGenerator<ZoneRecord[]> {
  for await (const page of pages) {
    for (const record of page) if (record.type === TYPE.NSEC) links.set(record.owner, record);
    yield page;
  }
}
