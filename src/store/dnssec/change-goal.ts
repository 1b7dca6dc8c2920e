// Changes an owner's DNSSEC goal: signed or unsigned, other keys, or the previous goal. Each call is one change of the
// domain and writes only the goal. The key machine approaches it step by step, no faster than caches allow.

import { sql } from 'kysely';
import { abort, disable, enable, newMachine, roll } from '../../checks/dnssec/goals.ts';
import { keyOf, type Machine, wantedIds } from '../../checks/dnssec/machine.ts';
import type { MachineKey } from '../../checks/dnssec/machine-key.ts';
import { RULES } from '../../checks/dnssec/rules.ts';
import { isSigned } from '../../checks/dnssec/serving.ts';
import { dnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import { MAX_TTL_SECONDS } from '../../zone/records/customer-types.ts';
import { hasRoomForHashes } from '../../zone/signing/denial-records.ts';
import type { ChangedBy } from '../accounts/actor.ts';
import { type DomainLock, isGone, lockDomain } from '../change/lock-domain.ts';
import { logWritten, nextVersion } from '../change/write-domain-change.ts';
import { DnssecUnavailable, wantedDenial } from '../keys/signed-zone.ts';
import { makeMachineKeys } from '../keys/zone-keys.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import { inOneTrip, sendWithNext } from '../postgres/pool-driver.ts';
import { inTransaction, rollBackTo } from '../postgres/transaction.ts';
import { findUnableNodes, NO_ROOM_FOR_HASHES } from '../signing/enable-signing.ts';
import {
  loadDnssec,
  needsOthers,
  type SigningWishes,
  type StoredDnssec,
  saveWishes,
  waysOf,
  wishesOf,
} from './dnssec-state.ts';

export interface GoalOrder extends ChangedBy {
  readonly domainId: number;
  /** See `saveEdit`. */
  readonly ownerId?: number;
}

export type ChangedGoal =
  /** `changeId` is undefined if the goal was already set. */
  | { readonly kind: 'updated'; readonly changeId?: number }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly code:
        | 'wrong_state'
        | 'dnssec_busy'
        | 'dnssec_verbatim'
        | 'dnssec_algorithm'
        | 'dnssec_imported'
        | 'dnssec_unavailable'
        | 'validation_failed';
      readonly message: string;
      /** For `validation_failed`: the invalid field. */
      readonly field?: string;
      readonly retryAfterSeconds?: number;
    };

/** Nodes may have been upgraded or have free space by then. */
const RETRY_SECONDS = 600;
/** Keys are cheap, but their rows are kept as long as the domain. */
const MAX_KEYS_PER_DAY = 12;
const DAY_MS = 86_400_000;

export async function enableDnssec(db: Database, order: GoalOrder & SigningWishes): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const refusal = refuseDomain(lock) ?? refuseWishes(lock, stored, order);
    if (refusal !== undefined) return refusal;
    const before = stored?.machine ?? newMachine(lock.now.getTime(), MAX_TTL_SECONDS);
    if (before.goal === 'signed') return before;
    const { denial, algorithm, split } = wishesOf(order, stored);
    const trip = inOneTrip(trx);
    const [unable, { id }] = await Promise.all([
      findUnableNodes(trip),
      saveWishes(trip, lock.row.id, { denial, algorithm, split }), // reverted if a node is not able
    ]);
    if (unable !== undefined) return refused('dnssec_unavailable', unable);
    const isNew = stored === undefined || needsOthers(before, stored, { algorithm, split });
    if (isNew && hasManyKeys(lock, stored)) return MANY_KEYS;
    const apex = decodeNameColumn(lock.row.name);
    const made = isNew
      ? await makeMachineKeys(trx, before, {
          signedZoneId: id,
          apex,
          algorithm,
          split,
          known: stored?.keys ?? [],
        })
      : [];
    return enable(before, made);
  });
}

/** `now` skips the days for which the zone stays signed after its DS record is removed. */
export async function disableDnssec(
  db: Database,
  order: GoalOrder & { readonly now?: boolean },
): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (_, __, stored) => {
    const machine = stored?.machine;
    return machine ? disable(machine, order.now === true) : undefined;
  });
}

/**
 * Replaces all signing keys or one of them, optionally with another algorithm, or with one key instead of two.
 * `compromised` means that someone else may have the keys.
 */
export async function rollDnssec(
  db: Database,
  order: GoalOrder &
    Omit<SigningWishes, 'denial'> & { readonly compromised: boolean; readonly keyId?: number | undefined },
): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const refusal = refuseDomain(lock);
    if (refusal !== undefined) return refusal;
    const machine = stored?.machine;
    if (!machine) return NOT_SIGNED;
    const replaced = order.keyId === undefined ? undefined : wantedKey(machine, order.keyId);
    if (order.keyId !== undefined && replaced === undefined) return OTHER_KEY;
    if (hasManyKeys(lock, stored)) return MANY_KEYS;
    const { id: signedZoneId } = stored.signed;
    const { algorithm, split } = wishesOf(order, stored);
    if (replaced !== undefined && (algorithm !== stored.signed.algorithm || split !== stored.signed.split))
      return refused(
        'wrong_state',
        'the algorithm and the split of a single key cannot change: omit its id to replace all keys',
      );
    if (algorithm !== stored.signed.algorithm) {
      const unable = await findUnableNodes(trx); // each set temporarily has signatures of both
      if (unable !== undefined) return refused('dnssec_unavailable', unable);
    }
    const apex = decodeNameColumn(lock.row.name);
    const make = { signedZoneId, apex, algorithm, split, only: replaced?.role, known: stored.keys };
    const made = await makeMachineKeys(trx, machine, make);
    const rolled = roll(machine, made, order.compromised);
    if (rolled === 'off') return NOT_SIGNED;
    if (rolled === 'busy') return refused('dnssec_busy', 'the last change of keys is still in progress');
    return typeof rolled === 'string' ? refused('wrong_state', NOTHING) : rolled;
  });
}

/** Returns to the previous goal, from any state of the machine. */
export async function abortDnssec(db: Database, order: GoalOrder): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (_, lock, stored) => {
    const refusal = refuseDomain(lock);
    if (refusal !== undefined) return refusal;
    const aborted = stored?.machine ? abort(stored.machine) : 'nothing';
    return typeof aborted === 'string' ? refused('wrong_state', NOTHING) : aborted;
  });
}

type Refused = Extract<ChangedGoal, { kind: 'refused' }>;

const SIGNED_OTHERWISE =
  'the domain is already signed with other options: change the denial with its own call, and the algorithm with a rollover';
const NOTHING = 'no change is in progress that could be aborted';
export const MANY_KEYS = refused('dnssec_busy', 'too many keys were created for the domain within a day');
/** Returns the key if the zone will continue to use it. */
function wantedKey(machine: Machine, id: number): MachineKey | undefined {
  return wantedIds(machine).includes(String(id)) ? keyOf(machine, String(id)) : undefined;
}

const OTHER_KEY = refused('wrong_state', 'the zone has no such key, or is already replacing it');
export const NOT_SIGNED = refused('wrong_state', 'the domain is not signed');

export function refused(code: Refused['code'], message: string): Refused {
  return {
    kind: 'refused',
    code,
    message,
    ...(code === 'dnssec_unavailable' && { retryAfterSeconds: RETRY_SECONDS }),
  };
}

export function hasManyKeys({ now }: DomainLock, stored: StoredDnssec | undefined): boolean {
  const young = stored?.keys.filter(({ madeAt }) => now.getTime() - madeAt.getTime() < DAY_MS) ?? [];
  return young.length >= MAX_KEYS_PER_DAY;
}

/** Returns the machine with the new goal. Returns the same machine, or undefined, if nothing changes. */
type Change = (
  trx: Database,
  lock: DomainLock,
  stored: StoredDnssec | undefined,
) => Promise<Machine | Refused | undefined>;

export async function changeGoal(db: Database, order: GoalOrder, change: Change): Promise<ChangedGoal> {
  try {
    return await inTransaction<ChangedGoal>(db, (trx) => changeUnderLock(trx, order, change));
  } catch (error) {
    if (error instanceof DnssecUnavailable) return refused('dnssec_unavailable', error.message);
    throw error;
  }
}

async function changeUnderLock(trx: Database, order: GoalOrder, change: Change): Promise<ChangedGoal> {
  const lock = await lockDomain(trx, order.domainId);
  if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
  const stored = lock.signed && (await loadDnssec(trx, order.domainId));
  if (stored !== undefined && stored.machine === null && stored.signed.phase !== 'off')
    return refused('dnssec_busy', 'an operator manages the signing of this domain');
  const machine = await change(trx, lock, stored);
  if (machine === undefined || machine === stored?.machine) return { kind: 'updated' };
  if ('kind' in machine) rollBackTo(machine); // also the keys that were created
  const changeId = lock.zone?.nextVersion ?? (await nextVersion(trx));
  const { algorithm, split } = waysOf(machine);
  const { by, source } = order;
  const log = { by, source, operation: 'dnssec' } as const;
  const written = sql`
    with ${sql.join(logWritten(lock, log, { changeId, serial: lock.row.serial }))}
    update signed_zones set machine = ${JSON.stringify(machine)}, goal = ${machine.goal}, seq = seq + 1,
      algorithm = coalesce(${algorithm}, algorithm), split = coalesce(${split}, split),
      status = ${dnssecStatus(machine, RULES)}, due_at = clock_timestamp(), wanted_since = null
    where domain_id = ${order.domainId}`;
  await sendWithNext(trx, written);
  return { kind: 'updated', changeId };
}

export function refuseDomain({ row }: DomainLock): Refused | undefined {
  if (row.dnsMode === 'external')
    return refused(
      'wrong_state',
      'the domain is in external mode: only domains in managed mode can be signed',
    );
  if (row.status === 'disabled' || row.status === 'banned')
    return refused('wrong_state', `the domain is ${row.status}`);
  if (row.isCopy)
    return refused('wrong_state', 'the domain is copied from its primary, and only its primary can sign it');
  return undefined;
}

/** Refuses to change how a signed zone is signed. Separate calls do that. */
function refuseWishes(
  { row }: DomainLock,
  stored: StoredDnssec | undefined,
  { denial, algorithm, split }: SigningWishes,
): Refused | undefined {
  if (denial === 'nsec3' && !hasRoomForHashes(decodeNameColumn(row.name)))
    return refused('wrong_state', NO_ROOM_FOR_HASHES);
  const { signed, machine } = stored ?? {};
  if (!signed || !machine || (machine.goal === 'unsigned' && !isSigned(machine.serving))) return undefined;
  const isSame =
    (denial ?? wantedDenial(signed)) === wantedDenial(signed) &&
    (algorithm ?? signed.algorithm) === signed.algorithm &&
    (split ?? signed.split) === signed.split;
  return isSame ? undefined : refused('dnssec_busy', SIGNED_OTHERWISE);
}
