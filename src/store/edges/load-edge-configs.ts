// Loads the configurations of domains for edges, with one statement per kind of data for any number of domains.

import { sql } from 'kysely';
import { entitlementsOf, type Overrides } from '../../billing/entitlements.ts';
import type { EdgeConfig } from '../../edge/edge-config.ts';
import { type EdgeDomain, edgeConfigOf, type ProxiedRecord } from '../../edge/edge-config-of.ts';
import { PLAN_JSON, type Plan } from '../accounts/plans.ts';
import { writeAudit } from '../audit/write-audit.ts';
import { loadEdgeCertificates, loadHttp01 } from '../certificates/load-edge-certificates.ts';
import { openCertificate } from '../certificates/open-certificate.ts';
import { SUSPENDED_AT } from '../domains/domain-row.ts';
import type { Database } from '../postgres/database.ts';
import { inTransaction } from '../postgres/transaction.ts';
import { loadEdgeRules } from '../rules/edge-rules.ts';
import type { FoundEdge } from './edges.ts';

interface LoadedEdge {
  /** Null if edges of all regions serve the domain. */
  readonly regions: readonly string[] | null;
  readonly config: EdgeConfig;
}

/** Keyed by name in stored form. A domain without an entry is not served by edges. */
export async function loadEdgeConfigs(
  trx: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, LoadedEdge>> {
  const { rows: domains } = await sql<StoredDomain>`
    select distinct on (d.name) d.id, d.name, d.status, ${SUSPENDED_AT} is not null as suspended,
      d.edge_regions as regions, d.developer_mode_until as "developerModeUntil",
      json_build_object('cache_l2_max_gb', d.cache_l2_max_gb, 'cache_l2_ttl_days', d.cache_l2_ttl_days,
        'cache_cap_mb', d.cache_cap_mb, 'sec_no_sniff', d.sec_no_sniff, 'sec_referrer_policy', d.sec_referrer_policy,
        'sec_strip_headers', d.sec_strip_headers, 'markdown_for_agents', d.markdown_for_agents) as settings,
      d.plan_id as "planId", d.plan_overrides as overrides
    from domains d
    where d.name = any(${[...names]}::text[]) and d.deleted_at is null and ${IS_SERVED}
    order by d.name, d.served = 'full' desc, d.id`.execute(trx);
  if (domains.length === 0) return new Map();
  const ids = domains.map(({ id }) => id);
  const { rows: records } = await sql<ProxiedRecord & { domainId: number }>`
    select r.domain_id as "domainId", r.id, r.name, r.destination, r.scheme, r.port, r.host_header, r.timeout,
      r.captcha, r.monitor
    from records r where r.domain_id = any(${ids}::bigint[]) and r.proxied
    order by r.domain_id, r.id`.execute(trx);
  const recordsOf = groupByDomain(records);
  const certificates = await loadEdgeCertificates(trx, ids);
  const http01 = await loadHttp01(trx, ids);
  const rules = await loadEdgeRules(trx, ids);
  const plans = await loadPlansOf(trx, domains);
  return new Map(
    domains.map(({ regions, planId, overrides, ...domain }) => [
      domain.name,
      {
        regions,
        config: edgeConfigOf({
          domain: { ...domain, plan: entitled(plans.get(planId ?? 0), overrides) },
          records: recordsOf.get(domain.id) ?? [],
          rules: rules.get(domain.id) ?? [],
          http01: http01.get(domain.id) ?? [],
          certificates: certificates.get(domain.id) ?? [],
        }),
      },
    ]),
  );
}

/** Loaded separately, because many domains share few plans, which would be half of the data. */
async function loadPlansOf(trx: Database, domains: readonly StoredDomain[]): Promise<Map<number, Plan>> {
  const ids = [...new Set(domains.flatMap(({ planId }) => planId ?? []))];
  const { rows } = await sql<{ plan: Plan }>`
    select ${PLAN_JSON} as plan from plans p where p.id = any(${ids}::bigint[])`.execute(trx);
  return new Map(rows.map(({ plan }) => [plan.id, plan]));
}

function entitled(plan: Plan | undefined, overrides: Overrides | null) {
  return plan === undefined ? null : entitlementsOf(plan, overrides);
}

/** Estimates the bytes of rows in the configs of domains, by name. */
export async function loadEdgeSizes(
  trx: Database,
  names: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ name: string; bytes: number }>`
    select d.name, sum(s.bytes)::bigint as bytes
    from domains d cross join lateral (
      select count(*) * ${RECORD_BYTES}::bigint as bytes from records r where r.domain_id = d.id and r.proxied
      union all
      select sum(u.octets + u.page_octets) from rules u where u.domain_id = d.id and u.enabled) s
    where d.name = any(${[...names]}::text[]) and d.deleted_at is null
    group by d.name`.execute(trx);
  return new Map(rows.map(({ name, bytes }) => [name, bytes]));
}

const RECORD_BYTES = 300;

/** In external mode, edges serve a proved domain because it points to them. A leaving domain is served until it has left. */
export const IS_SERVED = sql`(d.served = 'full' or d.dns_mode = 'external' and d.status in ('active', 'moved'))`;

interface StoredDomain extends Omit<EdgeDomain, 'plan'> {
  readonly regions: readonly string[] | null;
  readonly planId: number | null;
  readonly overrides: Overrides | null;
}

function groupByDomain<T extends { readonly domainId: number }>(rows: readonly T[]): Map<number, T[]> {
  const groups = new Map<number, T[]>();
  for (const row of rows) {
    const group = groups.get(row.domainId);
    if (group === undefined) groups.set(row.domainId, [row]);
    else group.push(row);
  }
  return groups;
}

interface ReadKey {
  readonly id: number;
  readonly chain: string;
  readonly privateKey: string;
}

/**
 * Returns the certificate of a domain with its private key, for an edge that serves the domain. The same transaction
 * writes a row to the audit log. Returns undefined if there is no such certificate, or if it is not for this edge.
 */
export async function readKey(
  db: Database,
  { id: edgeId, name, region, tokenHash }: FoundEdge,
  certificateId: number,
  address: string,
): Promise<ReadKey | undefined> {
  return await inTransaction(db, async (trx) => {
    const { rows } = await sql<{ domain: string }>`
      select d.name as domain from certificates c join domains d on d.id = c.domain_id
      where c.id = ${certificateId} and d.deleted_at is null and ${IS_SERVED}
        and (d.edge_regions is null or ${region} = any(d.edge_regions))
        and exists (select from edges e where e.id = ${edgeId} and e.token_hash = ${tokenHash} and e.revoked_at is null)`.execute(
      trx,
    );
    const [served] = rows;
    if (served === undefined) return undefined;
    const opened = await openCertificate(trx, certificateId);
    if (opened === undefined) return undefined;
    await writeAudit(trx, {
      action: 'edge.read_key',
      by: { kind: 'system', name: `edge ${name}`, address },
      target: { id: certificateId, name: served.domain },
      after: { edge: name },
    });
    return { id: certificateId, chain: opened.chain, privateKey: opened.privateKey };
  });
}
