// Signs a zone in a thread and without a lock, and yields the rows to write in pieces.

import type { Name } from '../../dns/name.ts';
import { TYPE } from '../../dns/type-codes.ts';
import type { OwnerRows } from '../../zone/signing/plan-rows.ts';
import { remakeBefore, signatureTimes } from '../../zone/signing/validity.ts';
import type { ZoneRecord } from '../../zone/zone.ts';
import { currentTime } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { notePresentNames } from './hashed-names.ts';
import { readPages } from './read-zone-rows.ts';
import { noteSignatures, zoneKeys } from './sign-change.ts';
import { otherDenial, type SignedZone } from './signed-zone.ts';
import { SigningLane } from './signing-lane.ts';

/** No request waits for these jobs. */
const wholeLane = new SigningLane({
  waiting: 8,
  limits: { maxOldGenerationSizeMb: 2048, maxYoungGenerationSizeMb: 32 },
});

/**
 * Concurrent changes may or may not be included. Yields nothing if the zone has no apex. Throws DnssecUnavailable or
 * SigningThreadError. Rejects with the signal's reason if that aborts.
 */
export async function* signWhole(
  db: Database,
  { id: zoneId, apex }: { readonly id: number; readonly apex: Name },
  signed: SignedZone,
  signal: AbortSignal,
): AsyncGenerator<OwnerRows[]> {
  if (signed.denial === 'nsec3') await notePresentNames(db, zoneId);
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
  /** Receives all NSEC records of the chain, if it is a chain of NSEC. */
  readonly links: Map<Name, ZoneRecord>;
}

/**
 * Signs the chain of the other kind. Concurrent changes may or may not be included. Throws DnssecUnavailable or
 * SigningThreadError. Rejects with the signal's reason if that aborts.
 */
export async function* signChain(
  db: Database,
  { id: zoneId, apex, signed, links }: ZoneToChain,
  signal: AbortSignal,
): AsyncGenerator<OwnerRows[]> {
  const denial = otherDenial(signed.denial);
  if (denial === 'nsec3') await notePresentNames(db, zoneId);
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
