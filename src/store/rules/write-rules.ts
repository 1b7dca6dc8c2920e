// Writes rules under the lock of their domain. A trigger notifies edges.

import { sql } from 'kysely';
import type { Database } from '../postgres/database.ts';
import type { WrittenRule } from './rule.ts';
import { octetsOfBody } from './rule.ts';

/** Number of unused pages that are kept for changes that may be reverted. */
const UNUSED_PAGES = 16;

export async function writeRules(
  trx: Database,
  domainId: number,
  written: readonly WrittenRule[],
  now: Date,
): Promise<void> {
  await savePages(trx, domainId, written);
  const gone = written.filter(({ value }) => value === undefined).map(({ operation }) => operation.id);
  if (gone.length > 0)
    await sql`delete from rules where domain_id = ${domainId} and id = any(${gone}::bigint[])`.execute(trx);
  const updates = rowsOf(written, 'update');
  if (updates !== undefined) {
    await sql`
      update rules r set enabled = n.enabled, priority = n.priority, record_ids = n.record_ids, fields = n.fields,
        octets = n.octets, page = decode(n.page, 'hex'), page_octets = n.page_octets,
        disabled_reason = n.disabled_reason, updated_at = ${now}
      from ${asTable(updates)} where r.id = n.id and r.domain_id = ${domainId}`.execute(trx);
  }
  const creates = rowsOf(written, 'create');
  if (creates !== undefined) {
    await sql`
      insert into rules (id, domain_id, type, enabled, priority, record_ids, fields, octets, page, page_octets,
        disabled_reason, created_at, updated_at)
      select n.id, ${domainId}, n.type, n.enabled, n.priority, n.record_ids, n.fields, n.octets, decode(n.page, 'hex'),
        n.page_octets, n.disabled_reason, coalesce(n.created_at, ${now}), ${now} from ${asTable(creates)}`.execute(
      trx,
    );
  }
  await dropPages(trx, domainId, written);
}

function asTable(json: string) {
  return sql`jsonb_to_recordset(${json}::jsonb) n (id bigint, type text, enabled boolean, priority integer,
    record_ids bigint[], fields jsonb, octets integer, page text, page_octets integer, disabled_reason text,
    created_at timestamptz)`;
}

/** Returns rows as JSON, or undefined if there are none. */
function rowsOf(written: readonly WrittenRule[], op: 'create' | 'update'): string | undefined {
  const rows = written.flatMap(({ operation, value }) => {
    if (operation.op !== op || value === undefined) return [];
    const { record_ids, enabled, priority, ...fields } = value.body;
    const { page, disabledReason } = value;
    const { id, type, created_at } = operation;
    return [
      {
        id,
        type,
        enabled,
        priority,
        record_ids,
        fields,
        octets: octetsOfBody(value),
        page: page?.digest ?? null,
        page_octets: page?.octets ?? 0,
        disabled_reason: disabledReason,
        created_at: created_at ?? null,
      },
    ];
  });
  return rows.length === 0 ? undefined : JSON.stringify(rows);
}

async function savePages(trx: Database, domainId: number, written: readonly WrittenRule[]): Promise<void> {
  for (const { value, html } of written) {
    if (html === undefined || value === undefined || value.page === null) continue;
    await sql`
      insert into rule_pages (domain_id, digest, html) values (${domainId}, decode(${value.page.digest}, 'hex'), ${html})
      on conflict (domain_id, digest) do nothing`.execute(trx);
  }
}

/** Returns those of the digests whose pages are no longer stored. */
export async function findLostPages(
  trx: Database,
  domainId: number,
  digests: readonly string[],
): Promise<string[]> {
  if (digests.length === 0) return [];
  const { rows } = await sql<{ digest: string }>`
    select digest from unnest(${digests}::text[]) w (digest) where not exists (
      select from rule_pages p where p.domain_id = ${domainId} and p.digest = decode(w.digest, 'hex'))`.execute(
    trx,
  );
  return rows.map(({ digest }) => digest);
}

/** Marks pages that these writes removed from a rule as unused from now on, and deletes the oldest unused ones. */
async function dropPages(trx: Database, domainId: number, written: readonly WrittenRule[]): Promise<void> {
  const left = written.flatMap(({ operation: { before } }) => {
    const page = before?.page as { readonly digest: string } | undefined;
    return page === undefined ? [] : [page.digest];
  });
  if (left.length === 0) return;
  await sql`
    with unused as materialized (
      select p.digest, encode(p.digest, 'hex') = any(${left}::text[]) as is_new, p.kept_at
      from rule_pages p where p.domain_id = ${domainId}
        and not exists (select from rules r where r.domain_id = ${domainId} and r.page = p.digest)),
    kept as (select digest, is_new from unused order by is_new desc, kept_at desc, digest limit ${UNUSED_PAGES}),
    marked as (
      update rule_pages p set kept_at = clock_timestamp() from kept k
      where p.domain_id = ${domainId} and p.digest = k.digest and k.is_new)
    delete from rule_pages p where p.domain_id = ${domainId}
      and p.digest in (select digest from unused except select digest from kept)`.execute(trx);
}

export async function allocateRuleIds(trx: Database, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select nextval('rules_id_seq') as id from generate_series(1, ${count}::integer)`.execute(trx);
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}
