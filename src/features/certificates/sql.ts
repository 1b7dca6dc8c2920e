// Requests, uploads, replaces and deletes certificates.

import { sql } from 'kysely';
import type { JudgedCertificate } from '../../edge/certificates/judge-certificate.ts';
import { requireBoxes } from '../../store/certificates/open-certificate.ts';
import { type DomainLock, isGone, lockDomain } from '../../store/change/lock-domain.ts';
import type { Database } from '../../store/postgres/database.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import { writeChallenges } from './sql-challenges.ts';
import { writeCertificate } from './sql-write.ts';

const AFTER_FAILURE_SECONDS = 300;
const OF_ACCOUNT = { most: 300, seconds: 3600 };
/** The limit that is reached first applies. */
const OF_NAME = [
  { most: 5, seconds: 3600 },
  { most: 20, seconds: 86_400 },
] as const;
/** Each call deletes at most this many rows that are too old to count. */
const FORGOTTEN_AT_ONCE = 100;

interface Limited {
  readonly kind: 'failed' | 'name' | 'account';
  readonly retryAfterSeconds: number;
}

interface Asking {
  readonly id: number;
  readonly accountId: number;
  readonly name: string;
}

/** Requires the lock of the domain. Returns undefined if the request is allowed, or if an order is in progress. */
async function judgeRequest(trx: Database, { id, accountId, name }: Asking): Promise<Limited | undefined> {
  const { rows } = await sql<LimitRow>`
    select
      exists (select from acme_orders o where o.domain_id = ${id} and (o.step <> 'resting' or o.wanted)) as "isUnderWay",
      (select ceil(${AFTER_FAILURE_SECONDS} - extract(epoch from clock_timestamp() - o.asked_at))::integer
        from acme_orders o where o.domain_id = ${id} and o.step = 'resting' and o.attempts > 0) as "afterFailure",
      array(select ceil(extract(epoch from clock_timestamp() - a.asked_at))::integer from acme_asks a
        where a.name = ${name} order by a.asked_at desc limit ${OF_NAME[1].most}) as ages,
      (select count(*)::integer from acme_asks a where a.account_id = ${accountId}
        and a.asked_at > clock_timestamp() - make_interval(secs => ${OF_ACCOUNT.seconds})) as "ofAccount"`.execute(
    trx,
  );
  const { isUnderWay, afterFailure, ages, ofAccount } = rows[0] as LimitRow;
  if (isUnderWay) return undefined;
  if (afterFailure !== null && afterFailure > 0) return { kind: 'failed', retryAfterSeconds: afterFailure };
  for (const { most, seconds } of OF_NAME) {
    const age = ages[most - 1]; // age of the request that must leave the window first
    if (age !== undefined && age < seconds) return { kind: 'name', retryAfterSeconds: seconds - age };
  }
  return ofAccount < OF_ACCOUNT.most ? undefined : { kind: 'account', retryAfterSeconds: 600 };
}

interface LimitRow {
  readonly isUnderWay: boolean;
  readonly afterFailure: number | null;
  readonly ages: readonly number[];
  readonly ofAccount: number;
}

async function recordRequest(trx: Database, { accountId, name }: Asking): Promise<void> {
  await sql`
    with forgotten as (
      delete from acme_asks where id in (
        select id from acme_asks where asked_at < clock_timestamp() - make_interval(secs => ${OF_NAME[1].seconds})
        limit ${FORGOTTEN_AT_ONCE} for update skip locked))
    insert into acme_asks (account_id, name) values (${accountId}, ${name})`.execute(trx);
}

interface CertificateOrder {
  readonly domainId: number;
  /** As in `saveEdit`. */
  readonly ownerId?: number;
}

export type ChangedCertificate =
  | { readonly kind: 'changed' }
  /** The requested order is already in progress. */
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

/** Removes the certificate and the order for the next one. Returns `absent` if the domain has neither. */
export async function removeCertificate(db: Database, order: CertificateOrder): Promise<ChangedCertificate> {
  return await underLock(db, order, async (trx, lock) => {
    const hadOrder = await dropOrder(trx, lock);
    const { rows } = await sql`delete from certificates where domain_id = ${lock.row.id} returning 1`.execute(
      trx,
    );
    return { kind: rows.length > 0 || hadOrder ? 'changed' : 'absent' };
  });
}

/** Requests a certificate, unless an order is already in progress. Throws CertificatesUnavailable. */
export async function requestCertificateFor(
  db: Database,
  order: CertificateOrder & { /** Operators' requests are not limited. */ readonly isOperator?: boolean },
): Promise<ChangedCertificate> {
  requireBoxes(db);
  return await underLock(db, order, async (trx, { row }) => {
    if (row.status !== 'active' || (row.dnsMode === 'managed' && row.served !== 'full'))
      return refused(
        'wrong_state',
        'certificates are issued only for active domains: this one is not active yet',
      );
    if (row.suspendedAt !== null)
      return refused('wrong_state', 'certificates are issued only for active domains: this one is suspended');
    const limited = order.isOperator === true ? undefined : await judgeRequest(trx, row);
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
    await recordRequest(trx, row);
    return { kind: 'changed' };
  });
}

const TOO_OFTEN: Readonly<Record<Limited['kind'], string>> = {
  failed: 'the last order has just failed: see last_error, and try again later',
  name: 'too many certificates were requested for this domain; try again later',
  account: 'too many certificates were requested within an hour; try again later',
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

/** Returns true if there was an order. */
async function dropOrder(trx: Database, lock: DomainLock): Promise<boolean> {
  await writeChallenges(trx, lock, []);
  await sql`delete from acme_answers where domain_id = ${lock.row.id}`.execute(trx);
  const { rows } = await sql`delete from acme_orders where domain_id = ${lock.row.id} returning 1`.execute(
    trx,
  );
  return rows.length > 0;
}
