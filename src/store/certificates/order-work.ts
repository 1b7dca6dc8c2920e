// One order as a worker finds it, and its steps as they are saved. A step compares and sets a number, so of two workers with the
// same order the slower one saves nothing.

import { type RawBuilder, sql } from 'kysely';
import { printWithoutDot } from '../../zone/name-text.ts';
import type { CertificateKind, OrderStep } from '../postgres/certificate-tables.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { About } from '../secrets/key-boxes.ts';
import { requireBoxes } from './certificates-unavailable.ts';

/** A challenge of the authority, and how it is answered. */
export interface StoredChallenge {
  readonly url: string;
  readonly type: 'dns-01' | 'http-01';
  /** Of the certificate, without `*.`. */
  readonly host: string;
  readonly token: string;
  /** The text of the TXT record, or what an edge answers. */
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
  /** It is active, and answered by us where its zone is ours. */
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
  /** The time in Postgres. */
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

/** Undefined: nobody wants a certificate any more. */
export async function loadOrder(db: Database, id: number): Promise<OrderWork | undefined> {
  const { rows } = await sql<OrderRow>`
    select o.id, o.seq, o.step, o.domain_id as "domainId", o.account_id as "accountId", d.name as domain,
      d.dns_mode as "dnsMode", o.wanted, o.names, o.directory, o.order_url as "orderUrl", o.challenges,
      o.change_id as "changeId", o.published_at as "publishedAt", o.begun_at as "begunAt", o.attempts,
      o.renew_at as "renewAt", o.renewal_look_at as "renewalLookAt",
      d.deleted_at is null and d.status = 'active' and d.suspended_at is null
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

/** More of them a domain may have, and no certificate. */
const MOST_PLACES = 2000;

/** The names above the domain's proxied names, or these themselves, as text without the final dot. */
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

/** Saves a step unless another one was saved since; then false. `dueInMs` null: it is not looked at again. */
export async function saveStep(
  db: Database,
  { id, seq }: Pick<OrderWork, 'id' | 'seq'>,
  { dueInMs, set }: { readonly dueInMs: number | null; readonly set: RawBuilder<unknown> },
): Promise<boolean> {
  const { rows } = await sql`
    update acme_orders set seq = seq + 1, ${set},
      due_at = clock_timestamp() + make_interval(secs => ${dueInMs === null ? null : dueInMs / 1000}::float8)
    where id = ${id} and seq = ${seq} returning 1`.execute(db);
  return rows.length > 0;
}

/** The private key of the certificate that is ordered, sealed, as columns. Throws CertificatesUnavailable. */
export async function sealOrderKey(
  trx: Database,
  work: Pick<OrderWork, 'id' | 'domainId'>,
  privateKey: string,
): Promise<RawBuilder<unknown>> {
  const { boxId, sealed } = await requireBoxes(trx).seal(trx, aboutOrderKey(work), Buffer.from(privateKey));
  return sql`box_id = ${boxId}, sealed = ${sealed}`;
}

/** Undefined: none was made. Throws CertificatesUnavailable. */
export async function openOrderKey(
  db: Database,
  work: Pick<OrderWork, 'id' | 'domainId'>,
): Promise<string | undefined> {
  const { rows } = await sql<{ boxId: number | null; sealed: Buffer | null }>`
    select box_id as "boxId", sealed from acme_orders where id = ${work.id}`.execute(db);
  const { boxId, sealed } = rows[0] ?? {};
  if (boxId == null || sealed == null) return undefined;
  return (await requireBoxes(db).unseal(db, { boxId, sealed }, aboutOrderKey(work))).toString('utf8');
}

function aboutOrderKey({ id, domainId }: Pick<OrderWork, 'id' | 'domainId'>): About {
  return ['certificate order', String(id), String(domainId)];
}
