// One order as a worker finds it, with what its certificate is to be for.

import { sql } from 'kysely';
import { printWithoutDot } from '../../zone/name-text.ts';
import { SUSPENDED_AT } from '../domains/domain.ts';
import { loadPublishSettings } from '../postgres/answer-settings.ts';
import { TIME } from '../postgres/current-time.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn } from '../postgres/name-column.ts';
import type { CertificateKind, OrderStep } from './load-ssl.ts';

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

/** The addresses by which clients reach the edges that serve a domain. */
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
