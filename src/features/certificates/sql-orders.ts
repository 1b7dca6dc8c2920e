// Claims and loads orders for certificates, and stores each step.

import { type RawBuilder, sql } from 'kysely';
import type { CertificateKind, OrderStep } from '../../store/certificates/load-ssl.ts';
import { requireBoxes } from '../../store/certificates/open-certificate.ts';
import { type ClaimedInTurns, claimInTurns, type DueClaim } from '../../store/checks/check-shares.ts';
import { SUSPENDED_AT } from '../../store/domains/domain-row.ts';
import { loadPublishSettings } from '../../store/postgres/answer-settings.ts';
import { TIME } from '../../store/postgres/current-time.ts';
import type { Database } from '../../store/postgres/database.ts';
import { decodeNameColumn } from '../../store/postgres/name-column.ts';
import { inTransaction } from '../../store/postgres/transaction.ts';
import type { About } from '../../store/secrets/key-boxes.ts';
import { printWithoutDot } from '../../zone/name-text.ts';

/** Challenge of the authority, and its response. */
interface StoredChallenge {
  readonly url: string;
  readonly type: 'dns-01' | 'http-01';
  /** Host name of the certificate, without `*.`. */
  readonly host: string;
  readonly token: string;
  /** Text of the TXT record, or of the edge's response. */
  readonly value: string;
}

export interface StoredFinding {
  readonly code: string;
  readonly message: string;
}

export interface OrderWork {
  readonly id: number;
  readonly seq: number;
  readonly step: OrderStep;
  readonly domainId: number;
  readonly accountId: number;
  /** A-labels, without the final dot. */
  readonly domain: string;
  readonly dnsMode: 'managed' | 'external';
  /** True if the domain is active and, in managed mode, served in full. */
  readonly isActive: boolean;
  readonly wanted: boolean;
  readonly names: readonly string[];
  readonly directory: string | undefined;
  readonly orderUrl: string | undefined;
  readonly challenges: readonly StoredChallenge[];
  readonly changeId: number | undefined;
  readonly publishedAt: Date | undefined;
  readonly begunAt: Date | undefined;
  readonly attempts: number;
  readonly findings: readonly StoredFinding[];
  readonly renewAt: Date | undefined;
  readonly renewalLookAt: Date | undefined;
  readonly certificate:
    | {
        readonly kind: CertificateKind;
        readonly names: readonly string[];
        readonly chain: string;
        readonly notBefore: Date;
        readonly notAfter: Date;
      }
    | undefined;
  /** Time by the database's clock. */
  readonly at: Date;
}

interface OrderRow
  extends Omit<
    OrderWork,
    | 'directory'
    | 'orderUrl'
    | 'changeId'
    | 'publishedAt'
    | 'begunAt'
    | 'renewAt'
    | 'renewalLookAt'
    | 'certificate'
  > {
  readonly directory: string | null;
  readonly orderUrl: string | null;
  readonly changeId: number | null;
  readonly publishedAt: Date | null;
  readonly begunAt: Date | null;
  readonly renewAt: Date | null;
  readonly renewalLookAt: Date | null;
  readonly kind: CertificateKind | null;
  readonly haveNames: string[];
  readonly chain: string;
  readonly notBefore: Date;
  readonly notAfter: Date;
}

/** Returns undefined if the order no longer exists. */
export async function loadOrder(db: Database, id: number): Promise<OrderWork | undefined> {
  const { rows } = await sql<OrderRow>`
    select o.id, o.seq, o.step, o.domain_id as "domainId", o.account_id as "accountId", d.name as domain,
      d.dns_mode as "dnsMode", o.wanted, o.names, o.directory, o.order_url as "orderUrl", o.challenges,
      o.change_id as "changeId", o.findings, o.published_at as "publishedAt", o.begun_at as "begunAt", o.attempts,
      o.renew_at as "renewAt", o.renewal_look_at as "renewalLookAt",
      d.deleted_at is null and d.status = 'active' and ${SUSPENDED_AT} is null
        and (d.dns_mode = 'external' or d.served = 'full') as "isActive",
      c.kind, c.names as "haveNames", c.chain, c.not_before as "notBefore", c.not_after as "notAfter", ${TIME} as at
    from acme_orders o join domains d on d.id = o.domain_id left join certificates c on c.domain_id = d.id
    where o.id = ${id}`.execute(db);
  const [row] = rows;
  if (row === undefined) return undefined;
  const { kind, haveNames, chain, notBefore, notAfter, ...order } = row;
  return {
    ...order,
    domain: printWithoutDot(decodeNameColumn(row.domain)),
    directory: row.directory ?? undefined,
    orderUrl: row.orderUrl ?? undefined,
    changeId: row.changeId ?? undefined,
    publishedAt: row.publishedAt ?? undefined,
    begunAt: row.begunAt ?? undefined,
    renewAt: row.renewAt ?? undefined,
    renewalLookAt: row.renewalLookAt ?? undefined,
    certificate: kind === null ? undefined : { kind, names: haveNames, chain, notBefore, notAfter },
  };
}

/** Maximum number of names read. A domain may have more, but not in its certificate. */
const MOST_PLACES = 2000;

/** Returns the domain's proxied names, or the names directly above them, as text without the final dot. */
export async function loadProxied(
  db: Database,
  { domainId }: Pick<OrderWork, 'domainId'>,
  of: 'levels' | 'names',
): Promise<string[]> {
  const place = of === 'names' ? sql`r.name` : sql`substring(r.name from position('.' in r.name) + 1)`;
  const { rows } = await sql<{ place: string }>`
    select distinct ${place} as place from records r where r.domain_id = ${domainId} and r.proxied
    order by 1 limit ${MOST_PLACES}`.execute(db);
  return rows.map((row) => row.place.replace(/\.$/, ''));
}

/** Returns the addresses at which clients reach the edges that serve a domain. */
export async function loadEdgeAddresses(
  db: Database,
  { domainId }: Pick<OrderWork, 'domainId'>,
): Promise<ReadonlySet<string>> {
  const { edges } = await loadPublishSettings(db);
  const { rows } = await sql<{ addresses: string[] }>`
    select e.v4 || e.v6 as addresses from edges e, domains d
    where d.id = ${domainId} and e.revoked_at is null
      and (d.edge_regions is null or e.region = any(d.edge_regions))`.execute(db);
  return new Set([...edges.v4, ...edges.v6, ...rows.flatMap(({ addresses }) => addresses)]);
}

/** Longer than a job waits in a full queue, plus one run. */
const LEASE_SECONDS = 180;

export function claimDueOrders(db: Database, claim: DueClaim): Promise<ClaimedInTurns> {
  return claimInTurns(
    db,
    {
      table: sql`acme_orders`,
      id: sql`id`,
      join: sql``,
      isWanted: sql`true`,
      leaseSeconds: LEASE_SECONDS,
    },
    claim,
  );
}

/** Returns false if another step was saved meanwhile. */
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

/** Schedules the next check of the order. Until then, the owner sees `error`. */
export async function saveWait(
  db: Database,
  work: OrderWork,
  { dueInMs, error }: { readonly dueInMs: number; readonly error?: string | undefined },
): Promise<boolean> {
  const lastError = error === undefined ? sql`last_error = last_error` : sql`last_error = ${error}`;
  return await saveStep(db, work, { dueInMs, set: lastError });
}

/** Saves an order that the authority accepted. */
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

/** Saves the challenges to respond to. If there are none, the authority requires no more proof. */
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

/** Stores the key of the certificate before its request is sent to the authority. Throws CertificatesUnavailable. */
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

/** Saves when to check the order next. `renewAt` is the time that the authority suggests. */
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
