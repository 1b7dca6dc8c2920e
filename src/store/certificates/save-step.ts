// The steps of an order as they are saved. A step compares and sets a number, so of two workers with the same order the slower
// one saves nothing.

import { type RawBuilder, sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import type { About } from '../secrets/key-boxes.ts';
import { requireBoxes } from './certificates-unavailable.ts';
import type { OrderWork, StoredChallenge, StoredFinding } from './order-work.ts';

/** False: another step was saved since. */
export async function saveStep(
  db: Database,
  { id, seq }: Pick<OrderWork, 'id' | 'seq'>,
  { dueInMs, set }: { readonly dueInMs: number; readonly set: RawBuilder<unknown> },
): Promise<boolean> {
  const { rows } = await sql`
    update acme_orders set seq = seq + 1, ${set},
      due_at = clock_timestamp() + make_interval(secs => ${dueInMs / 1000}::float8)
    where id = ${id} and seq = ${seq} returning 1`.execute(db);
  return rows.length > 0;
}

/** The order is looked at again after that time. `error`: what the owner is told meanwhile. */
export async function saveWait(
  db: Database,
  work: OrderWork,
  { dueInMs, error }: { readonly dueInMs: number; readonly error?: string | undefined },
): Promise<boolean> {
  const told = error === undefined ? sql`last_error = last_error` : sql`last_error = ${error}`;
  return await saveStep(db, work, { dueInMs, set: told });
}

/** The authority has the order. */
export async function saveNewOrder(
  db: Database,
  work: OrderWork,
  order: {
    readonly directory: string;
    readonly url: string;
    readonly names: readonly string[];
    readonly findings: readonly StoredFinding[];
  },
): Promise<boolean> {
  const { directory, url, names, findings } = order;
  return await saveStep(db, work, {
    dueInMs: 0,
    set: sql`step = 'ordered', directory = ${directory}, order_url = ${url}, names = ${names}::text[],
      findings = ${JSON.stringify(findings)}::jsonb, challenges = '[]', change_id = null, published_at = null,
      begun_at = clock_timestamp(), box_id = null, sealed = null`,
  });
}

/** What is to be shown; nothing: the authority wants no more proof. */
export async function saveChallenges(
  db: Database,
  work: OrderWork,
  challenges: readonly StoredChallenge[],
): Promise<boolean> {
  const step = challenges.length === 0 ? sql`step = 'answered'` : sql`step = step`;
  const set = sql`${step}, challenges = ${JSON.stringify(challenges)}::jsonb`;
  return await saveStep(db, work, { dueInMs: 0, set });
}

export async function saveAnswered(db: Database, work: OrderWork): Promise<boolean> {
  return await saveStep(db, work, { dueInMs: 0, set: sql`step = 'answered'` });
}

/** The key of the certificate is stored before the authority hears of it. Throws CertificatesUnavailable. */
export async function saveOrderKey(db: Database, work: OrderWork, privateKey: string): Promise<boolean> {
  return await inTransaction(db, async (trx) => {
    const { boxId, sealed } = await requireBoxes(trx).seal(trx, aboutOrderKey(work), Buffer.from(privateKey));
    const set = sql`step = 'finalizing', box_id = ${boxId}, sealed = ${sealed}`;
    return await saveStep(trx, work, { dueInMs: 0, set });
  });
}

/** Throws CertificatesUnavailable. */
export async function openOrderKey(db: Database, work: OrderWork): Promise<string> {
  const { rows } = await sql<{ boxId: number | null; sealed: Buffer | null }>`
    select box_id as "boxId", sealed from acme_orders where id = ${work.id}`.execute(db);
  const { boxId, sealed } = rows[0] ?? {};
  if (boxId == null || sealed == null) throw new Error(`order ${work.id} has no key`);
  return (await requireBoxes(db).unseal(db, { boxId, sealed }, aboutOrderKey(work))).toString('utf8');
}

/** The order rests: nothing is to be done until then. `renewAt`: as the authority suggests. */
export async function saveRest(
  db: Database,
  work: OrderWork,
  rest: { readonly dueInMs: number; readonly renewAt?: Date | undefined; readonly lookInMs?: number },
): Promise<boolean> {
  const { dueInMs, renewAt, lookInMs } = rest;
  const renewal = renewAt === undefined ? sql`renew_at = renew_at` : sql`renew_at = ${renewAt}`;
  const look =
    lookInMs === undefined
      ? sql``
      : sql`, renewal_look_at = clock_timestamp() + make_interval(secs => ${lookInMs / 1000}::float8)`;
  return await saveStep(db, work, { dueInMs, set: sql`${renewal}${look}` });
}

function aboutOrderKey({ id, domainId }: OrderWork): About {
  return ['certificate order', String(id), String(domainId)];
}
