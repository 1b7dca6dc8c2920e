// Shows the answers to an order's challenges, in the zone or to the edges, and takes them away; with the step that follows, in one
// transaction. So no answer stays that no order knows of.

import { sql } from 'kysely';
import type { JudgedCertificate } from '../../edge/certificates/judge-certificate.ts';
import { lockDomain } from '../change/lock-domain.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { writeChallenges } from './challenge-records.ts';
import type { OrderWork, StoredFinding } from './order-work.ts';
import { saveStep } from './save-step.ts';
import { writeCertificate } from './write-certificate.ts';

type PublishedChallenges =
  | { readonly kind: 'published' | 'conflict' | 'not_served' }
  | { readonly kind: 'blocked'; readonly name: string; readonly type: 'CNAME' | 'NS' | 'DNAME' };

const PREFIX = '_acme-challenge';

class OrderConflict extends Error {}

export async function publishChallenges(db: Database, work: OrderWork): Promise<PublishedChallenges> {
  return await orConflict(
    inTransaction(db, async (trx) => {
      const lock = await lockDomain(trx, work.domainId);
      if (lock === undefined) return { kind: 'not_served' };
      const texts = work.challenges
        .filter(({ type }) => type === 'dns-01')
        .map(({ host, value }) => ({ name: `${PREFIX}.${host}`, value }));
      const written = await writeChallenges(trx, lock, texts);
      if (written.kind !== 'written') return written;
      for (const { type, host, token, value } of work.challenges)
        if (type === 'http-01')
          await sql`
            insert into acme_answers (domain_id, host, token, key_authorization)
            values (${work.domainId}, ${host}, ${token}, ${value}) on conflict do nothing`.execute(trx);
      await step(trx, work, {
        dueInMs: 0,
        set: sql`step = 'published', published_at = clock_timestamp(), change_id = ${written.changeId ?? null}`,
      });
      return { kind: 'published' };
    }),
  );
}

interface Ended {
  /** What it led to. */
  readonly issued?: JudgedCertificate;
  readonly error?: string;
  readonly findings: readonly StoredFinding[];
  /** When the order is looked at next. */
  readonly dueInMs: number;
  readonly renewAt?: Date | undefined;
}

/** Ends an order, however it went: its answers go, and a certificate takes the place of the one before. */
export async function endOrder(
  db: Database,
  work: OrderWork,
  { issued, error, findings, dueInMs, renewAt }: Ended,
): Promise<'ended' | 'conflict'> {
  const ended = await orConflict(
    inTransaction(db, async (trx): Promise<{ kind: 'published' | 'conflict' }> => {
      const lock = await lockDomain(trx, work.domainId);
      if (lock === undefined) return { kind: 'conflict' };
      await writeChallenges(trx, lock, []);
      await sql`delete from acme_answers where domain_id = ${work.domainId}`.execute(trx);
      if (issued !== undefined) await writeCertificate(trx, work.domainId, { kind: 'acme', judged: issued });
      const failed =
        error === undefined
          ? sql``
          : sql`, last_error = ${error}, failed_at = clock_timestamp(),
        attempts = attempts + 1`;
      const done =
        issued === undefined
          ? sql``
          : sql`, last_error = null, failed_at = null, attempts = 0, renew_at = ${renewAt ?? null},
              renewal_look_at = null`;
      await step(trx, work, {
        dueInMs,
        set: sql`step = 'resting', wanted = false, order_url = null, challenges = '[]', change_id = null,
          published_at = null, begun_at = null, box_id = null, sealed = null,
          findings = ${JSON.stringify(findings)}::jsonb${failed}${done}`,
      });
      return { kind: 'published' };
    }),
  );
  return ended.kind === 'conflict' ? 'conflict' : 'ended';
}

async function step(trx: Database, work: OrderWork, saved: Parameters<typeof saveStep>[2]): Promise<void> {
  if (!(await saveStep(trx, work, saved))) throw new OrderConflict();
}

/** What was written in the transaction is undone. */
async function orConflict<T>(work: Promise<T>): Promise<T | { readonly kind: 'conflict' }> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof OrderConflict) return { kind: 'conflict' };
    throw error;
  }
}
