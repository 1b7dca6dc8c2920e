// What owners do with the certificate of a domain: upload one, ask for one, take it away. Each under the lock of the domain, and
// each ends the order that is under way, with its records.

import { sql } from 'kysely';
import type { JudgedCertificate } from '../../edge/certificates/judge-certificate.ts';
import { type DomainLock, isGone, lockDomain } from '../change/lock-domain.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { judgeAsking, type Limited, noteAsking } from './asked-often.ts';
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
  /** What was asked for is under way. */
  | { readonly kind: 'unchanged' }
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
    await dropOrder(trx, lock);
    await writeCertificate(trx, lock.row.id, { kind: 'custom', judged: order.judged });
    return { kind: 'changed' };
  });
}

/** The certificate, uploaded or issued, and the order for the next one. `absent`: it has neither. */
export async function removeCertificate(db: Database, order: CertificateOrder): Promise<ChangedCertificate> {
  return await underLock(db, order, async (trx, lock) => {
    const hadOrder = await dropOrder(trx, lock);
    const { rows } = await sql`delete from certificates where domain_id = ${lock.row.id} returning 1`.execute(
      trx,
    );
    return { kind: rows.length > 0 || hadOrder ? 'changed' : 'absent' };
  });
}

/** Asks for a certificate; where an order is under way, that is it. Throws CertificatesUnavailable. */
export async function askForCertificate(
  db: Database,
  order: CertificateOrder & { /** Whose asking is not limited. */ readonly isOperator?: boolean },
): Promise<ChangedCertificate> {
  requireBoxes(db);
  return await underLock(db, order, async (trx, { row }) => {
    if (row.status !== 'active' || (row.dnsMode === 'managed' && row.served !== 'full'))
      return refused('wrong_state', 'certificates are issued for active domains: this one is not yet');
    if (row.suspendedAt !== null)
      return refused('wrong_state', 'certificates are issued for active domains: this one is suspended');
    const limited = order.isOperator === true ? undefined : await judgeAsking(trx, row);
    if (limited !== undefined)
      return refused('ssl_limited', TOO_OFTEN[limited.kind], limited.retryAfterSeconds);
    const { rows } = await sql`
      insert into acme_orders as o (domain_id, account_id, wanted, asked_at, due_at)
      values (${row.id}, ${row.accountId}, true, clock_timestamp(), clock_timestamp())
      on conflict (domain_id) do update
        set wanted = true, asked_at = clock_timestamp(), due_at = clock_timestamp(), account_id = excluded.account_id
        where o.step = 'resting' and not o.wanted
      returning 1`.execute(trx);
    if (rows.length === 0) return { kind: 'unchanged' };
    await noteAsking(trx, row);
    return { kind: 'changed' };
  });
}

const TOO_OFTEN: Readonly<Record<Limited['kind'], string>> = {
  failed: 'the last order has just failed: see last_error, and ask again later',
  name: 'this domain has asked too often; try again later',
  account: 'too many certificates were asked for in an hour; try again later',
};

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
async function dropOrder(trx: Database, lock: DomainLock): Promise<boolean> {
  await writeChallenges(trx, lock, []);
  await sql`delete from acme_answers where domain_id = ${lock.row.id}`.execute(trx);
  const { rows } = await sql`delete from acme_orders where domain_id = ${lock.row.id} returning 1`.execute(
    trx,
  );
  return rows.length > 0;
}
