// Jobs that workers create for vantage points, and their results. Each job is handed out once, to its vantage point,
// and answered once. Workers and API processes poll, with one statement for all waiting calls of a process: a lost
// notification would cost a check, and listening a connection per process.

import { randomUUID } from 'node:crypto';
import { sql } from 'kysely';
import type { Evidence } from '../../checks/delegation/evidence.ts';
import type { JsonEvidence } from '../../checks/delegation/evidence-json.ts';
import type { Name } from '../../dns/name.ts';
import { decodeEvidence } from '../checks/check-runs.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';

/** A vantage point that has not requested jobs for this long gets none. */
const VANTAGE_SILENT_SECONDS = 60;

interface VantageQuestion {
  /** In stored form. */
  readonly nameText: string;
  readonly fresh: boolean;
  readonly thorough: boolean;
  readonly deadlineSeconds: number;
}

/** Creates a job for each available vantage point. */
export async function makeVantageJobs(
  db: Database,
  { nameText, fresh, thorough, deadlineSeconds }: VantageQuestion,
): Promise<{ readonly ask: string; readonly asked: readonly string[] }> {
  const ask = randomUUID();
  const { rows } = await sql<{ vantage: string }>`
    insert into vantage_jobs (id, ask, vantage, name, fresh, thorough, deadline)
    select gen_random_uuid(), ${ask}::uuid, v.name, ${nameText}, ${fresh}, ${thorough},
      clock_timestamp() + make_interval(secs => ${deadlineSeconds})
    from vantages v where v.seen_at > clock_timestamp() - make_interval(secs => ${VANTAGE_SILENT_SECONDS})
    returning vantage`.execute(db);
  return { ask, asked: rows.map(({ vantage }) => vantage) };
}

export interface VantageAnswer {
  readonly id: string;
  readonly ask: string;
  readonly vantage: string;
  readonly evidence: Evidence;
}

/** Loads the results of these asks, without known ones. */
export async function loadVantageAnswers(
  db: Database,
  asks: readonly string[],
  known: readonly string[],
): Promise<VantageAnswer[]> {
  const { rows } = await sql<Omit<VantageAnswer, 'evidence'> & { evidence: JsonEvidence }>`
    select id, ask, vantage, evidence from vantage_jobs
    where ask = any(${asks}::uuid[]) and evidence is not null and not id = any(${known}::uuid[])
    order by answered_at, id`.execute(db);
  return rows.map((row) => ({ ...row, evidence: decodeEvidence(row.evidence) }));
}

/** Ends an ask whose check no longer waits: deletes open jobs and unread results. */
export async function endAsk(db: Database, ask: string): Promise<void> {
  await sql`delete from vantage_jobs where ask = ${ask}::uuid and taken_at is null`.execute(db);
  await sql`
    update vantage_jobs set evidence = null where ask = ${ask}::uuid and evidence is not null`.execute(db);
}

interface VantageJob {
  readonly id: string;
  readonly name: Name;
  readonly deadline: Date;
  readonly fresh: boolean;
  readonly thorough: boolean;
}

/** Hands out jobs, oldest first. */
export async function takeVantageJobs(db: Database, vantage: string, max: number): Promise<VantageJob[]> {
  const { rows } = await sql<Omit<VantageJob, 'name'> & { name: string }>`
    with taken as (
      update vantage_jobs set taken_at = clock_timestamp()
      where id = any(array(
        select id from vantage_jobs
        where vantage = ${vantage} and taken_at is null and deadline > clock_timestamp()
        order by deadline, id limit ${max} for update skip locked))
      returning id, name, deadline, fresh, thorough)
    select id, name, deadline, fresh, thorough from taken order by deadline, id`.execute(db);
  return rows.map((row) => ({ ...row, name: decodeNameColumn(row.name) }));
}

/** Returns those of the vantage points that have open jobs. */
export async function vantagesWithJobs(db: Database, vantages: readonly string[]): Promise<string[]> {
  const { rows } = await sql<{ vantage: string }>`
    select v.vantage from unnest(${vantages}::text[]) v (vantage)
    where exists (select 1 from vantage_jobs j
      where j.vantage = v.vantage and j.taken_at is null and j.deadline > clock_timestamp())`.execute(db);
  return rows.map(({ vantage }) => vantage);
}

type DropReason = 'unknown' | 'other_vantage' | 'other_name' | 'twice' | 'late';

/** Stores the result, or returns why it was dropped. Counts both. */
export async function saveVantageAnswer(
  db: Database,
  {
    id,
    vantage,
    nameText,
    evidence,
  }: {
    readonly id: string;
    readonly vantage: string;
    readonly nameText: string;
    readonly evidence: JsonEvidence;
  },
): Promise<'taken' | DropReason> {
  const { numAffectedRows } = await sql`
    update vantage_jobs set answered_at = clock_timestamp(), evidence = ${JSON.stringify(evidence)}::jsonb
    where id = ${id}::uuid and vantage = ${vantage} and name = ${nameText} and taken_at is not null
      and answered_at is null and deadline > clock_timestamp()`.execute(db);
  const outcome = numAffectedRows === 1n ? 'taken' : await whyDropped(db, { id, vantage, nameText });
  await sql`
    update vantages set answers = answers + ${outcome === 'taken' ? 1 : 0},
      dropped = dropped + ${outcome === 'taken' ? 0 : 1}
    where name = ${vantage}`.execute(db);
  return outcome;
}

interface JobRow {
  readonly vantage: string;
  readonly name: string;
  readonly isTaken: boolean;
  readonly isAnswered: boolean;
}

async function whyDropped(
  db: Database,
  { id, vantage, nameText }: { readonly id: string; readonly vantage: string; readonly nameText: string },
): Promise<DropReason> {
  const { rows } = await sql<JobRow>`
    select vantage, name, taken_at is not null as "isTaken", answered_at is not null as "isAnswered"
    from vantage_jobs where id = ${id}::uuid`.execute(db);
  const [job] = rows;
  if (job === undefined || !job.isTaken) return 'unknown';
  if (job.vantage !== vantage) return 'other_vantage';
  if (job.name !== nameText) return 'other_name';
  return job.isAnswered ? 'twice' : 'late';
}

/** A job is kept this long after its deadline, without its result, so that late results are recognized. */
const KEPT_SECONDS = 600;

export async function purgeVantageJobs(db: Database): Promise<void> {
  await sql`
    delete from vantage_jobs where deadline < clock_timestamp() - make_interval(secs => ${KEPT_SECONDS})`.execute(
    db,
  );
  // Results that arrived after their check had ended.
  await sql`
    update vantage_jobs set evidence = null
    where deadline < clock_timestamp() and evidence is not null`.execute(db);
}
