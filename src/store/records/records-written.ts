// The statements that write the records of an edit.

import { type RawBuilder, sql } from 'kysely';
import type { SavedOperation } from '../../zone/edit/plan-revert.ts';
import { RECORD_COLUMN_NAMES, recordsAsTable } from './record-row.ts';

/** Writes the records, as parts of a WITH. The constraints judge the result of all of them. */
export function recordsWritten(domainId: number, ops: readonly SavedOperation[]): RawBuilder<unknown>[] {
  const gone = ops.flatMap(({ op, before }) => (op === 'delete' && before ? [before.id] : []));
  const updated = ops.flatMap(({ op, after }) => (op === 'update' && after ? [after] : []));
  const created = ops.flatMap(({ op, after }) => (op === 'create' && after ? [after] : []));
  const parts: RawBuilder<unknown>[] = [];
  if (gone.length > 0) {
    parts.push(sql`deleted_records as (
      delete from records where id = any(${gone}::bigint[]) and domain_id = ${domainId})`);
  }
  if (updated.length > 0) {
    parts.push(sql`updated_records as (
      update records r set name = n.name, type = n.type, rdata = n.rdata, identity = n.identity,
        destination = n.destination, ttl = n.ttl, proxied = n.proxied, captcha = n.captcha, scheme = n.scheme,
        port = n.port, host_header = n.host_header, monitor = n.monitor, dest_country = n.dest_country,
        timeout = n.timeout, comment = n.comment, updated_at = n.updated_at
      from ${recordsAsTable(domainId, updated)} n
      where r.id = n.id and r.domain_id = n.domain_id)`);
  }
  if (created.length > 0) {
    parts.push(sql`created_records as (
      insert into records (${RECORD_COLUMN_NAMES})
      select ${RECORD_COLUMN_NAMES} from ${recordsAsTable(domainId, created)} n)`);
  }
  return parts;
}
