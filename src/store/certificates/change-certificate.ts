// What owners do with the certificate of a domain: upload one, ask for one, take it away. Each under the lock of the domain, and
// each ends the order that is under way, with its records.

import { sql } from 'kysely';
import type { JudgedCertificate } from '../../edge/certificates/judge-certificate.ts';
import { type DomainLock, isGone, lockDomain } from '../change/lock-domain.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { requireBoxes } from './certificates-unavailable.ts';
import { writeChallenges } from './challenge-records.ts';
import { writeCertificate } from './write-certificate.ts';

interface CertificateOrder {
  readonly domainId: number;
  /** As in `saveEdit`. */
  readonly ownerId?: number;
}

export type ChangedCertificate =
  | { readonly kind: 'changed' }
  | { readonly kind: 'absent' }
  | {
      readonly kind: 'refused';
      readonly code: 'domain_disabled' | 'domain_banned' | 'wrong_state' | 'ssl_limited';
      readonly message: string;
      readonly retryAfterSeconds?: number;
    };

/** Throws CertificatesUnavailable. */
export async function uploadCertificate(
  db: Database,
  order: CertificateOrder & { readonly judged: JudgedCertificate },
): Promise<ChangedCertificate> {
  requireBoxes(db);
  return await underLock(db, order, async (trx, lock) => {
    await endOrder(trx, lock);
    await writeCertificate(trx, lock.row.id, { kind: 'custom', judged: order.judged });
    return { kind: 'changed' };
  });
}

/** The certificate, uploaded or issued, and the order for the next one. `absent`: it has neither. */
export async function removeCertificate(db: Database, order: CertificateOrder): Promise<ChangedCertificate> {
  return await underLock(db, order, async (trx, lock) => {
    const hadOrder = await endOrder(trx, lock);
    const { rows } = await sql`delete from certificates where domain_id = ${lock.row.id} returning 1`.execute(
      trx,
    );
    return { kind: rows.length > 0 || hadOrder ? 'changed' : 'absent' };
  });
}

/** How often users may ask: failed validations are counted by authorities, and each order costs them work. */
const ASKING = { domainSeconds: 300, accountOrders: 300, accountSeconds: 3600 };

/** Asks for a certificate; where an order is under way, that is it. Throws CertificatesUnavailable. */
export async function askForCertificate(db: Database, order: CertificateOrder): Promise<ChangedCertificate> {
  requireBoxes(db);
  return await underLock(db, order, async (trx, { row }) => {
    if (row.status !== 'active' || (row.dnsMode === 'managed' && row.served !== 'full'))
      return refused('wrong_state', 'certificates are issued for active domains: this one is not yet');
    const limited = await judgeAsking(trx, row.id, row.accountId);
    if (limited !== undefined) return limited;
    await sql`
      insert into acme_orders as o (domain_id, account_id, wanted, asked_at, due_at)
      values (${row.id}, ${row.accountId}, true, clock_timestamp(), clock_timestamp())
      on conflict (domain_id) do update
        set wanted = true, asked_at = clock_timestamp(), due_at = clock_timestamp(), account_id = excluded.account_id
        where o.step = 'resting'`.execute(trx);
    return { kind: 'changed' };
  });
}

async function judgeAsking(
  trx: Database,
  domainId: number,
  accountId: number,
): Promise<ChangedCertificate | undefined> {
  const { rows } = await sql<{ wait: number | null; asked: number }>`
    select
      (select ceil(${ASKING.domainSeconds} - extract(epoch from clock_timestamp() - o.asked_at))::integer
        from acme_orders o where o.domain_id = ${domainId} and o.step = 'resting' and o.attempts > 0) as wait,
      (select count(*)::integer from acme_orders o where o.account_id = ${accountId} and o.domain_id <> ${domainId}
        and o.asked_at > clock_timestamp() - make_interval(secs => ${ASKING.accountSeconds})) as asked`.execute(
    trx,
  );
  const { wait, asked } = rows[0] as { wait: number | null; asked: number };
  if (wait !== null && wait > 0)
    return refused(
      'ssl_limited',
      'the last order has just failed: see last_error, and ask again later',
      wait,
    );
  if (asked < ASKING.accountOrders) return undefined;
  return refused('ssl_limited', 'too many certificates were asked for in an hour; try again later', 600);
}

function refused(
  code: Extract<ChangedCertificate, { kind: 'refused' }>['code'],
  message: string,
  retryAfterSeconds?: number,
): ChangedCertificate {
  return { kind: 'refused', code, message, ...(retryAfterSeconds !== undefined && { retryAfterSeconds }) };
}

async function underLock(
  db: Database,
  order: CertificateOrder,
  work: (trx: Database, lock: DomainLock) => Promise<ChangedCertificate>,
): Promise<ChangedCertificate> {
  return await inTransaction(db, async (trx) => {
    const lock = await lockDomain(trx, order.domainId);
    if (lock === undefined || isGone(lock, order)) return { kind: 'absent' };
    const { status } = lock.row;
    if (status === 'disabled' || status === 'banned')
      return refused(`domain_${status}`, `the domain is ${status}`);
    return await work(trx, lock);
  });
}

/** Gives whether there was one. */
async function endOrder(trx: Database, lock: DomainLock): Promise<boolean> {
  await writeChallenges(trx, lock, []);
  await sql`delete from acme_answers where domain_id = ${lock.row.id}`.execute(trx);
  const { rows } = await sql`delete from acme_orders where domain_id = ${lock.row.id} returning 1`.execute(
    trx,
  );
  return rows.length > 0;
}
