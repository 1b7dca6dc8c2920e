// A customer's record as a row, and as JSON in the log of changes, and back.

import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { SavedOperation } from '../../zone/edit/plan-revert.ts';
import type { CustomerRecord, OriginScheme } from '../../zone/records/customer-record.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { printDestination } from '../../zone/records/destination.ts';
import { rdataKey } from '../../zone/records/rdata-key.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

export interface RecordRow {
  readonly id: number;
  readonly name: string;
  readonly type: ApiType;
  readonly rdata: Buffer;
  readonly ttl: number;
  readonly proxied: boolean;
  readonly captcha: boolean;
  readonly scheme: OriginScheme;
  readonly port: number;
  readonly hostHeader: string | null;
  readonly monitor: boolean;
  readonly destCountry: string | null;
  readonly timeout: number;
  readonly comment: string | null;
  readonly createdAt: Date;
  readonly updatedAt: Date;
}

/** `r` is the table of records. */
export const RECORD_COLUMNS = sql`r.id, r.name, r.type, r.rdata, r.ttl, r.proxied, r.captcha, r.scheme, r.port,
  r.host_header as "hostHeader", r.monitor, r.dest_country as "destCountry", r.timeout, r.comment,
  r.created_at as "createdAt", r.updated_at as "updatedAt"`;

export function decodeRecord(row: RecordRow): CustomerRecord {
  // member by member: lists are long, and copies of unknown members are slow
  return {
    id: row.id,
    name: decodeNameColumn(row.name),
    type: row.type,
    rdata: row.rdata,
    ttl: row.ttl,
    proxied: row.proxied,
    captcha: row.captcha,
    scheme: row.scheme,
    port: row.port,
    hostHeader: row.hostHeader,
    monitor: row.monitor,
    destCountry: row.destCountry,
    timeout: row.timeout,
    comment: row.comment,
    createdAt: row.createdAt.toISOString(),
    updatedAt: row.updatedAt.toISOString(),
  };
}

/** The records as a table expression with a column for each field. */
export function recordsAsTable(domainId: number, records: readonly CustomerRecord[]): RawBuilder<unknown> {
  const column = <T>(of: (record: CustomerRecord) => T): T[] => records.map(of);
  return sql`(select ${domainId}::bigint as domain_id, t.* from unnest(
      ${column((r) => r.id)}::bigint[], ${column((r) => encodeNameColumn(r.name))}::text[],
      ${column((r) => r.type)}::text[], ${column((r) => octetsOf(r.rdata))}::bytea[],
      ${column((r) => identityOf(r))}::bytea[],
      ${column((r) => printDestination(r.type, r.rdata).destination.replaceAll('\0', ''))}::text[],
      ${column((r) => r.ttl)}::integer[], ${column((r) => r.proxied)}::boolean[],
      ${column((r) => r.captcha)}::boolean[], ${column((r) => r.scheme)}::text[],
      ${column((r) => r.port)}::integer[], ${column((r) => r.hostHeader)}::text[],
      ${column((r) => r.monitor)}::boolean[], ${column((r) => r.destCountry)}::text[],
      ${column((r) => r.timeout)}::integer[], ${column((r) => r.comment)}::text[],
      ${column((r) => r.createdAt)}::timestamptz[], ${column((r) => r.updatedAt)}::timestamptz[]
    ) as t(id, name, type, rdata, identity, destination, ttl, proxied, captcha, scheme, port, host_header, monitor,
      dest_country, timeout, comment, created_at, updated_at))`;
}

export const RECORD_COLUMN_NAMES = sql`domain_id, id, name, type, rdata, identity, destination, ttl, proxied, captcha,
  scheme, port, host_header, monitor, dest_country, timeout, comment, created_at, updated_at`;

function octetsOf(rdata: Uint8Array): Buffer {
  return Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength);
}

/** Identifies a record as for published records: long rdata by its hash, with one octet more than any short one has. */
function identityOf({ type, rdata }: CustomerRecord): Buffer {
  const key = Buffer.from(rdataKey(type, rdata), 'latin1');
  if (key.length <= 32) return key;
  return Buffer.concat([createHash('sha256').update(key).digest(), Buffer.alloc(1)]);
}

/** A record with `rdata` in base64 and names as in columns. */
interface JsonRecord extends Omit<CustomerRecord, 'name' | 'rdata'> {
  readonly name: string;
  readonly rdata: string;
}

export interface JsonOperation {
  readonly op: SavedOperation['op'];
  readonly before?: JsonRecord;
  readonly after?: JsonRecord;
}

export function encodeOperation({ op, before, after }: SavedOperation): JsonOperation {
  return {
    op,
    ...(before !== undefined && { before: encodeJsonRecord(before) }),
    ...(after !== undefined && { after: encodeJsonRecord(after) }),
  };
}

export function decodeOperation({ op, before, after }: JsonOperation): SavedOperation {
  return {
    op,
    ...(before !== undefined && { before: decodeJsonRecord(before) }),
    ...(after !== undefined && { after: decodeJsonRecord(after) }),
  };
}

function encodeJsonRecord(record: CustomerRecord): JsonRecord {
  const { id, name, type, rdata, ttl, proxied, captcha, scheme, port, hostHeader, monitor } = record;
  const { destCountry, timeout, comment, createdAt, updatedAt } = record;
  return {
    id,
    name: encodeNameColumn(name),
    type,
    rdata: octetsOf(rdata).toString('base64'),
    ttl,
    proxied,
    captcha,
    scheme,
    port,
    hostHeader,
    monitor,
    destCountry,
    timeout,
    comment,
    createdAt,
    updatedAt,
  };
}

function decodeJsonRecord(record: JsonRecord): CustomerRecord {
  return {
    ...record,
    name: decodeNameColumn(record.name),
    rdata: new Uint8Array(Buffer.from(record.rdata, 'base64')),
  };
}

/** Allocates ids, in rising order. */
export async function allocateRecordIds(trx: Database, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select nextval(pg_get_serial_sequence('records', 'id')) as id from generate_series(1, ${count}::integer)`.execute(
    trx,
  );
  return rows.map(({ id }) => id).sort((a, b) => a - b);
}
