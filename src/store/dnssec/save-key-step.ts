// Saves what a look at a key machine came to: what it remembers, when it is looked at again, and the step that it takes. Two
// looks at once change nothing: the second one finds another number than it began with.

import { sql } from 'kysely';
import { type Advanced, written } from '../../checks/dnssec/advance.ts';
import type { Machine } from '../../checks/dnssec/machine.ts';
import { shownNow } from '../../checks/dnssec/parent-memory.ts';
import type { MachineRules } from '../../checks/dnssec/rules.ts';
import { dnssecStatus } from '../../checks/dnssec/told/dnssec-status.ts';
import { findSignedZone, type SignedZone } from '../keys/signed-zone.ts';
import type { Database } from '../postgres/database.ts';
import type { SigningPhase } from '../postgres/tables/schema.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { type LockedSubject, lockSubject } from '../signing/lock-signed-zone.ts';
import type { KeyWork } from './load-key-work.ts';
import { writeStep } from './write-step.ts';

/** What a look began with. */
type LookedAt = Pick<KeyWork, 'domainId' | 'signed' | 'machine'>;

type SavedStep =
  /** `isWhole` false: the rest of the step is written in pieces. */
  | { readonly kind: 'saved'; readonly machine: Machine; readonly isWhole: boolean }
  /** Something else was saved since: the look begins anew. */
  | { readonly kind: 'conflict' };

interface LookOptions {
  readonly dueInMs: number;
  readonly rules: MachineRules;
  /** Since when the owner has something to do, in milliseconds since 1970; null: nothing. */
  readonly wantedSince: number | null;
}

export async function saveKeyStep(
  db: Database,
  look: LookedAt,
  { machine, step }: Advanced,
  { dueInMs, rules, wantedSince }: LookOptions,
): Promise<SavedStep> {
  if (step === undefined) {
    const isSaved = await saveMachine(db, look, machine, { dueInMs, rules, wantedSince });
    return isSaved ? { kind: 'saved', machine, isWhole: true } : { kind: 'conflict' };
  }
  return await inTransaction<SavedStep>(db, async (trx) => {
    const locked = await lockUnchanged(trx, look);
    if (locked === undefined) return { kind: 'conflict' };
    const isWhole = await writeStep(trx, locked, look.machine, machine);
    const after = isWhole ? written(machine, await versionOf(trx, locked)) : machine;
    await saveMachine(trx, { signed: await currentOf(trx, look) }, after, { dueInMs: 0, rules, wantedSince });
    return { kind: 'saved', machine: after, isWhole };
  });
}

/** The last piece of a step is written. */
export async function saveWritten(
  db: Database,
  look: LookedAt,
  rules: MachineRules,
): Promise<'saved' | 'conflict'> {
  return await inTransaction<'saved' | 'conflict'>(db, async (trx) => {
    const locked = await lockUnchanged(trx, look);
    if (locked === undefined) return 'conflict';
    const after = written(look.machine, await versionOf(trx, locked));
    await saveMachine(trx, look, after, { dueInMs: 0, rules });
    return 'saved';
  });
}

async function lockUnchanged(
  trx: Database,
  { domainId, signed }: LookedAt,
): Promise<LockedSubject | undefined> {
  const locked = await lockSubject(trx, { domainId });
  return locked?.signed?.seq === signed.seq ? locked : undefined;
}

/** The version that the zone has now; a domain without a zone has none that nodes could lack. */
async function versionOf(trx: Database, { zone }: LockedSubject): Promise<number> {
  if (zone === undefined) return 0;
  const { rows } = await sql<{ version: number }>`select version from zones where id = ${zone.id}`.execute(
    trx,
  );
  return (rows[0] as { version: number }).version;
}

/** As the step has left it. */
async function currentOf(trx: Database, { signed: { id } }: LookedAt): Promise<SignedZone> {
  return (await findSignedZone(trx, sql`s.id = ${id}`)) as SignedZone;
}

/** False: somebody else saved since. While records come or go the phase says so; else it is the status that people see. */
async function saveMachine(
  db: Database,
  { signed: { id, seq } }: { readonly signed: SignedZone },
  machine: Machine,
  { dueInMs, rules, wantedSince }: Omit<LookOptions, 'wantedSince'> & Partial<LookOptions>,
): Promise<boolean> {
  const isLook = wantedSince !== undefined;
  const wanted = sql`to_timestamp(${(wantedSince ?? null) as number | null}::float8 / 1000)`;
  const { numAffectedRows } = await sql`
    update signed_zones set machine = ${JSON.stringify(machine)}, seq = seq + 1, status = ${dnssecStatus(machine, rules)},
      phase = case when phase in ('signing', 'unsigning', 'off') then phase else ${phaseOf(machine, rules)} end,
      had_ds = had_ds or ${shownNow(machine.parent, rules).some(({ ds }) => ds.length > 0)},
      ds_due = ds_due and not ${isLook}::boolean, wanted_since = case when ${isLook}::boolean then ${wanted} else wanted_since end,
      due_at = clock_timestamp() + make_interval(secs => ${dueInMs / 1000}::float8)
    where id = ${id} and seq = ${seq}`.execute(db);
  return numAffectedRows === 1n;
}

function phaseOf(machine: Machine, rules: MachineRules): SigningPhase {
  const status = dnssecStatus(machine, rules);
  switch (status) {
    case 'ds_wanted':
    case 'secure':
    case 'rolling':
    case 'ds_removal':
      return status;
    default:
      return 'waiting';
  }
}
