// What owners ask for: to be signed or no more, other keys, or to go back. Each is one change of the domain, and writes only
// the goal: the key machine goes to it step by step, none of which is sooner than caches allow.

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
import { nextVersion, writeLog } from '../change/write-domain-change.ts';
import { DnssecUnavailable, wantedDenial } from '../keys/signed-zone.ts';
import { makeMachineKeys } from '../keys/zone-keys.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
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
  /** As in `saveEdit`. */
  readonly ownerId?: number;
}

export type ChangedGoal =
  /** `changeId` undefined: the goal stood already. */
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
      /** Of `validation_failed`: the field that is wrong. */
      readonly field?: string;
      readonly retryAfterSeconds?: number;
    };

/** After that nodes may have been upgraded, or have room. */
const RETRY_SECONDS = 600;
/** Keys cost little, but their rows stay as long as the domain. */
const MOST_KEYS_A_DAY = 12;
const DAY_MS = 86_400_000;

export async function enableDnssec(db: Database, order: GoalOrder & SigningWishes): Promise<ChangedGoal> {
  return await changeGoal(db, order, async (trx, lock, stored) => {
    const refusal = refuseDomain(lock) ?? refuseWishes(lock, stored, order);
    if (refusal !== undefined) return refusal;
    const before = stored?.machine ?? newMachine(lock.now.getTime(), MAX_TTL_SECONDS);
    if (before.goal === 'signed') return before;
    const unable = await findUnableNodes(trx);
    if (unable !== undefined) return refused('dnssec_unavailable', unable);
    const { denial, algorithm, split } = wishesOf(order, stored);
    const { id } = await saveWishes(trx, lock.row.id, { denial, algorithm, split });
    const isNew = stored === undefined || needsOthers(before, stored, { algorithm, split });
    if (isNew && hasManyKeys(lock, stored)) return MANY_KEYS;
    const apex = decodeNameColumn(lock.row.name);
    const made = isNew
      ? await makeMachineKeys(trx, before, { signedZoneId: id, apex, algorithm, split })
      : [];
    return enable(before, made);
  });
}

/** `now`: without the days in which the zone stays signed though its DS is gone. */
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
 * Other keys in place of those that sign, or of one of them; also of another algorithm, or one in place of two. `compromised`:
 * somebody else may have them.
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
      return refused('wrong_state', 'one key alone stays as it is beside the other: leave its id out');
    if (algorithm !== stored.signed.algorithm) {
      const unable = await findUnableNodes(trx); // for a while each set has signatures of both
      if (unable !== undefined) return refused('dnssec_unavailable', unable);
    }
    const apex = decodeNameColumn(lock.row.name);
    const make = { signedZoneId, apex, algorithm, split, only: replaced?.role };
    const made = await makeMachineKeys(trx, machine, make);
    const rolled = roll(machine, made, order.compromised);
    if (rolled === 'off') return NOT_SIGNED;
    if (rolled === 'busy') return refused('dnssec_busy', 'the last change of keys is still under way');
    return typeof rolled === 'string' ? refused('wrong_state', NOTHING) : rolled;
  });
}

/** Back to the goal before the last one, from wherever the machine is. */
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
  'the domain is signed in another way already: its denial has a call of its own, and another algorithm comes with a rollover';
const NOTHING = 'nothing is under way that could be given up';
export const MANY_KEYS = refused('dnssec_busy', 'too many keys were made for the domain in a day');
/** Of those that the zone goes on with. */
function wantedKey(machine: Machine, id: number): MachineKey | undefined {
  return wantedIds(machine).includes(String(id)) ? keyOf(machine, String(id)) : undefined;
}

const OTHER_KEY = refused('wrong_state', 'the zone goes on without this key already, or has no such key');
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
  return young.length >= MOST_KEYS_A_DAY;
}

/** The machine with the new goal; the same one, or undefined: there is nothing to change. */
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
  const stored = await loadDnssec(trx, order.domainId);
  if (stored !== undefined && stored.machine === null && stored.signed.phase !== 'off')
    return refused('dnssec_busy', 'an operator has the domain signed');
  const machine = await change(trx, lock, stored);
  if (machine === undefined || machine === stored?.machine) return { kind: 'updated' };
  if ('kind' in machine) rollBackTo(machine); // with the keys that were made for it
  const changeId = lock.zone?.nextVersion ?? (await nextVersion(trx));
  const { algorithm, split } = waysOf(machine);
  await sql`
    update signed_zones set machine = ${JSON.stringify(machine)}, goal = ${machine.goal}, seq = seq + 1,
      algorithm = coalesce(${algorithm}, algorithm), split = coalesce(${split}, split),
      status = ${dnssecStatus(machine, RULES)}, due_at = clock_timestamp(), wanted_since = null
    where domain_id = ${order.domainId}`.execute(trx);
  const { by, source } = order;
  await writeLog(trx, lock, { by, source, operation: 'dnssec' }, { changeId, serial: lock.row.serial });
  return { kind: 'updated', changeId };
}

export function refuseDomain({ row }: DomainLock): Refused | undefined {
  if (row.dnsMode === 'external')
    return refused('wrong_state', 'its DNS is elsewhere: only domains in managed mode are signed here');
  if (row.status === 'disabled' || row.status === 'banned')
    return refused('wrong_state', `the domain is ${row.status}`);
  return undefined;
}

/** A zone that stands signed changes its ways by calls of their own. */
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
