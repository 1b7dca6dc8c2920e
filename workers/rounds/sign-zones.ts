// Keeps signed zones signed: refreshes signatures before they expire, signs and unsigns large zones in pieces, and
// changes their denial of existence. Due zones are read from Postgres each time instead of waiting in a queue, so
// that after an outage those that expire first are always next.

import { type Rounds, runRounds } from '../../src/jobs/run-rounds.ts';
import { DNSSEC_UNAVAILABLE } from '../../src/store/keys/signed-zone.ts';
import type { Database } from '../../src/store/postgres/database.ts';
import {
  claimDuePieces,
  claimDueRefreshes,
  type DuePieces,
  type DueZone,
  endLease,
  renewLease,
} from '../../src/store/signing/claim-due-zones.ts';
import { addChain, removeChain } from '../../src/store/signing/denial-chains.ts';
import { unsignInPieces } from '../../src/store/signing/disable-signing.ts';
import { refreshSignatures } from '../../src/store/signing/refresh-signatures.ts';
import { signInPieces } from '../../src/store/signing/sign-pieces.ts';
import type { SigningBreaker } from './signing-breaker.ts';

/** `chained`: answers now use the other chain of denials. `unchained`: the old chain is deleted. */
type PiecesDone = 'signed' | 'unsigned' | 'chained' | 'unchained';

/** Result of the work on one zone. */
export type SigningOutcome =
  | { readonly kind: 'refreshed'; readonly zone: string; readonly made: number; readonly seconds: number }
  | { readonly kind: PiecesDone; readonly zone: string; readonly seconds: number }
  /** The keys of the zone cannot be decrypted here. */
  | { readonly kind: 'unreadable'; readonly zone: string; readonly error: Error }
  | { readonly kind: 'failed'; readonly zone: string; readonly error: Error };

interface SignZonesOptions {
  readonly db: Database;
  /** While it is open, no signature is refreshed. */
  readonly breaker: SigningBreaker;
  readonly onOutcome: (outcome: SigningOutcome) => void;
  readonly onTrouble: (error: unknown) => void;
  readonly idleMs?: number;
}

const IDLE_MS = 1000;
const REFRESHES_AT_ONCE = 4;
const CLAIMED_AT_ONCE = 32;
/** If more zones are due than a claim takes, every eighth is verified as a sample for the breaker. */
const VERIFIED_EACH = 8;
const RENEW_MS = 30_000;

export function signZones(options: SignZonesOptions): Rounds {
  const { onTrouble, idleMs = IDLE_MS } = options;
  const stopping = new AbortController();
  const refreshing = runRounds({ round: () => refreshDue(options, stopping.signal), idleMs, onTrouble });
  let last = 0;
  const signNext = async () => {
    const zone = await signDue(options, last, stopping.signal);
    last = zone?.id ?? 0;
    return { isMore: zone !== undefined };
  };
  const signing = runRounds({ round: signNext, idleMs, onTrouble });
  return {
    async stop() {
      stopping.abort();
      await Promise.all([refreshing.stop(), signing.stop()]);
    },
  };
}

async function refreshDue(options: SignZonesOptions, signal: AbortSignal): Promise<{ isMore: boolean }> {
  const zones = dueRefreshes(options, signal);
  const work = async () => {
    for (let next = await zones.next(); !next.done; next = await zones.next())
      await refresh(options, next.value, signal);
  };
  await Promise.all(Array.from({ length: REFRESHES_AT_ONCE }, work));
  return { isMore: false };
}

interface DueRefresh extends DueZone {
  readonly isVerified: boolean;
}

/** Claims further zones as soon as those claimed before are started, so that no worker waits for the slowest zone. */
async function* dueRefreshes(
  { db, breaker }: SignZonesOptions,
  signal: AbortSignal,
): AsyncGenerator<DueRefresh> {
  for (let isMore = true; isMore && !breaker.isOpen && !signal.aborted; ) {
    const due = await claimDueRefreshes(db, CLAIMED_AT_ONCE);
    isMore = due.length === CLAIMED_AT_ONCE;
    for (const [i, zone] of due.entries()) {
      if (signal.aborted) await endLease(db, zone.id);
      else yield { ...zone, isVerified: !isMore || i % VERIFIED_EACH === 0 };
    }
  }
}

async function refresh(options: SignZonesOptions, zone: DueRefresh, signal: AbortSignal): Promise<void> {
  const { db, breaker } = options;
  await doing(options, zone, signal, async () => {
    const { made } = await whileLeased(options, zone, () => refreshSignatures(db, zone.id, signal));
    if (zone.isVerified) await breaker.look(zone);
    return { kind: 'refreshed', made };
  });
}

/** Returns the zone that was processed, or undefined if none is due. */
async function signDue(
  options: SignZonesOptions,
  after: number,
  signal: AbortSignal,
): Promise<DuePieces | undefined> {
  const { db } = options;
  const [zone] = await claimDuePieces(db, 1, after);
  if (zone === undefined) return undefined;
  await whileLeased(options, zone, () =>
    doing(options, zone, signal, async () => ({ kind: await writePieces(db, zone, signal) })),
  );
  return zone;
}

/** Renews the lease of a zone during the work, which takes minutes for a large zone. */
async function whileLeased<T>(
  { db, onTrouble }: SignZonesOptions,
  { id }: DueZone,
  work: () => Promise<T>,
): Promise<T> {
  const renewing = setInterval(() => renewLease(db, id).catch(onTrouble), RENEW_MS);
  try {
    return await work();
  } finally {
    clearInterval(renewing);
  }
}

async function writePieces(db: Database, { id, work }: DuePieces, signal: AbortSignal): Promise<PiecesDone> {
  switch (work) {
    case 'signing':
      await signInPieces(db, id, signal);
      return 'signed';
    case 'unsigning':
      await unsignInPieces(db, id, signal);
      return 'unsigned';
    case 'adding':
      await addChain(db, id, signal);
      return 'chained';
    case 'removing':
      await removeChain(db, id, signal);
      return 'unchained';
    default:
      return work satisfies never;
  }
}

type Done = { readonly kind: 'refreshed'; readonly made: number } | { readonly kind: PiecesDone };

/** A zone that fails keeps its lease: it is retried when the lease ends, and does not delay others. */
async function doing(
  { db, onOutcome, onTrouble }: SignZonesOptions,
  { id, name: zone }: DueZone,
  signal: AbortSignal,
  work: () => Promise<Done>,
): Promise<void> {
  const startedMs = performance.now();
  try {
    const done = await work();
    if (done.kind !== 'refreshed') await endLease(db, id); // a refresh has ended it
    onOutcome({ ...done, zone, seconds: (performance.now() - startedMs) / 1000 });
  } catch (thrown) {
    if (signal.aborted) return await endLease(db, id).catch(onTrouble);
    const error = thrown as Error;
    onOutcome({ kind: error.name === DNSSEC_UNAVAILABLE ? 'unreadable' : 'failed', zone, error });
  }
}
