// What the main thread and the thread that signs large zones tell each other.

import type { Name } from '../../dns/name.ts';
import type { Needed } from '../../zone/signing/plan-signing.ts';
import type { DenialKind } from '../../zone/signing/signed-types.ts';
import type { ZoneKeys } from '../../zone/signing/signing-key.ts';
import type { SignatureTimes } from '../../zone/signing/validity.ts';
import type { PackedOwners, PackedRecords } from './packed-rows.ts';
import type { SignedZone } from './signed-zone.ts';

/**
 * One plan, and the signatures of it. Of private keys a job has only those that make these signatures, as `KeyObject`: what
 * passes between the threads is a handle to the one key that OpenSSL holds for the process, which gives signatures. Its octets
 * are in no message, and KEY_SECRETS stay with the main thread.
 */
export interface SigningJob {
  readonly apex: Name;
  readonly denial: DenialKind;
  readonly keys: ZoneKeys;
  /** Signatures that end before this are made anew, in seconds since 1970. */
  readonly remakeBefore: number;
  readonly times: SignatureTimes;
  readonly work: ChangeWork | WholeWork;
}

/** Records are wanted at some names, or at all. */
interface ChangeWork {
  readonly kind: 'change';
  readonly isWhole: boolean;
  /** Names at which nothing is wanted; the records of the others follow as messages. */
  readonly gone: readonly Name[];
  /** As in `signChange`. */
  readonly missing: PackedRecords | undefined;
}

/** A zone that stands is signed as it is. */
interface WholeWork {
  readonly kind: 'whole';
  readonly signed: SignedZone;
}

export type ToThread =
  | { readonly kind: 'begin'; readonly job: SigningJob }
  /** What is wanted, or what was needed; `isLast`: that was all. */
  | { readonly kind: 'records'; readonly records: PackedRecords; readonly isLast: boolean }
  /** A piece was taken: there is room for another. */
  | { readonly kind: 'taken' };

export type FromThread =
  | { readonly kind: 'needed'; readonly needed: Needed }
  | { readonly kind: 'piece'; readonly rows: PackedOwners }
  | { readonly kind: 'done' }
  | { readonly kind: 'failed'; readonly message: string; readonly stack: string | undefined };

/** Pieces that may be under way: one is written while others are signed. */
export const PIECES_AHEAD = 4;
/** Records in one message. */
export const RECORDS_AT_ONCE = 1000;
