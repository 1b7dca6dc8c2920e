// Encodes a record as a row and as JSON in the change log, and builds the statements that write the records of an edit.

import { createHash } from 'node:crypto';
import { type RawBuilder, sql } from 'kysely';
import type { SavedOperation } from '../../zone/edit/plan-revert.ts';
import {
  type CustomerRecord,
  DEFAULT_SETTINGS,
  type OriginScheme,
  type RecordSettings,
  SETTING_NAMES,
} from '../../zone/records/customer-record.ts';
import type { ApiType } from '../../zone/records/customer-types.ts';
import { printDestination } from '../../zone/records/destination.ts';
import { rdataKey } from '../../zone/records/rdata-key.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';
import { type Column, tableOf } from '../postgres/prepared-statements.ts';

/** True if a setting is not the default. */
export const HAS_SETTINGS = sql.raw(`(${SETTING_NAMES.map(isSet).join(' or ')})`);
/** The same without the country of the origin, which most addresses have. */
export const HAS_MORE_SETTINGS = sql.raw(
  `(${SETTING_NAMES.filter((name) => name !== 'destCountry')
    .map(isSet)
    .join(' or ')})`,
);
/** Settings as JSON, in the order of `DEFAULT_SETTINGS`. */
export const SETTINGS_ARRAY = sql.raw(`json_build_array(${SETTING_NAMES.map(columnOf).join(', ')})`);
/** Null if all settings are the default, as in most records. */
const SETTINGS_JSON = sql`case when ${HAS_SETTINGS} then ${SETTINGS_ARRAY} end`;

function columnOf(setting: keyof RecordSettings): string {
  return `r.${setting.replaceAll(/[A-Z]/g, (capital) => `_${capital.toLowerCase()}`)}`;
}

function isSet(setting: keyof RecordSettings): string {
  const value = DEFAULT_SETTINGS[setting];
  if (value === null) return `${columnOf(setting)} is not null`;
  return `${columnOf(setting)} <> ${typeof value === 'string' ? `'${value}'` : value}`;
}

/**
 * A record's columns as one value, which takes a third of the time. `r` is the table of records. Times are in UTC,
 * without a zone. The second is null if it equals the first.
 */
export const RECORD_JSON = sql`json_build_array(r.id, r.name, r.type, encode(r.rdata, 'hex'), r.ttl, ${SETTINGS_JSON},
  r.created_at at time zone 'UTC', case when r.updated_at <> r.created_at then r.updated_at at time zone 'UTC' end,
  r.managed, r.destination)`;

export type RecordJson = readonly [
  id: number,
  name: string,
  type: ApiType,
  rdata: string,
  ttl: number,
  settings: SettingsJson | null,
  createdAt: string,
  updatedAt: string | null,
  managed: boolean,
  destination: string,
];

export type SettingsJson = readonly [
  proxied: boolean,
  captcha: boolean,
  scheme: OriginScheme,
  port: number,
  hostHeader: string | null,
  monitor: boolean,
  destCountry: string | null,
  timeout: number,
  comment: string | null,
];

/** The settings of a record without its own. */
export const DEFAULTS = SETTING_NAMES.map((setting) => DEFAULT_SETTINGS[setting]) as unknown as SettingsJson;

export function decodeRecord(json: RecordJson): CustomerRecord {
  const settings = json[5] ?? DEFAULTS;
  const createdAt = decodeMoment(json[6]);
  // Copies fields individually, because spreading is slow and lists are long.
  const record = {
    id: json[0],
    name: decodeNameColumn(json[1]),
    type: json[2],
    rdata: Buffer.from(json[3], 'hex'),
    ttl: json[4],
    proxied: settings[0],
    captcha: settings[1],
    scheme: settings[2],
    port: settings[3],
    hostHeader: settings[4],
    monitor: settings[5],
    destCountry: settings[6],
    timeout: settings[7],
    comment: settings[8],
    createdAt,
    updatedAt: json[7] === null ? createdAt : decodeMoment(json[7]),
  };
  return json[8] ? { ...record, managed: true } : record;
}

/** Returns RFC 3339 text with milliseconds. Postgres prints only as many fractional digits as needed, up to six. */
export function decodeMoment(text: string): string {
  return `${text.slice(0, 19)}.${text.slice(20, 23).padEnd(3, '0')}Z`;
}

const COLUMNS: readonly Column<CustomerRecord>[] = [
  { name: 'id', type: 'bigint', read: ({ id }) => id },
  { name: 'name', type: 'text', read: ({ name }) => encodeNameColumn(name) },
  { name: 'type', type: 'text', read: ({ type }) => type },
  { name: 'rdata', type: 'bytea', read: ({ rdata }) => octetsOf(rdata) },
  { name: 'identity', type: 'bytea', read: identityOf },
  { name: 'destination', type: 'text', read: destinationOf },
  { name: 'ttl', type: 'integer', read: ({ ttl }) => ttl },
  { name: 'proxied', type: 'boolean', read: ({ proxied }) => proxied },
  { name: 'captcha', type: 'boolean', read: ({ captcha }) => captcha },
  { name: 'scheme', type: 'text', read: ({ scheme }) => scheme },
  { name: 'port', type: 'integer', read: ({ port }) => port },
  { name: 'host_header', type: 'text', read: ({ hostHeader }) => hostHeader },
  { name: 'monitor', type: 'boolean', read: ({ monitor }) => monitor },
  { name: 'dest_country', type: 'text', read: ({ destCountry }) => destCountry },
  { name: 'timeout', type: 'integer', read: ({ timeout }) => timeout },
  { name: 'comment', type: 'text', read: ({ comment }) => comment },
  { name: 'created_at', type: 'timestamptz', read: ({ createdAt }) => createdAt },
  { name: 'updated_at', type: 'timestamptz', read: ({ updatedAt }) => updatedAt },
];

export const RECORD_COLUMN_NAMES = sql.raw(['domain_id', ...COLUMNS.map(({ name }) => name)].join(', '));

/** Returns the records as a table expression with a column for each field. */
export function recordsAsTable(domainId: number, records: readonly CustomerRecord[]): RawBuilder<unknown> {
  return sql`(select ${domainId}::bigint as domain_id, t.* from ${tableOf(records, COLUMNS)} t)`;
}

/** Returns the rdata as the API prints it, without characters that Postgres does not store. */
function destinationOf({ type, rdata }: CustomerRecord): string {
  return printDestination(type, rdata).destination.replaceAll('\0', '');
}

function octetsOf(rdata: Uint8Array): Buffer {
  return Buffer.from(rdata.buffer, rdata.byteOffset, rdata.byteLength);
}

/** Identifies a record as for published records: long rdata by its hash and one octet, longer than any short identity. */
function identityOf({ type, rdata }: CustomerRecord): Buffer {
  const key = Buffer.from(rdataKey(type, rdata), 'latin1');
  if (key.length <= 32) return key;
  return Buffer.concat([createHash('sha256').update(key).digest(), Buffer.alloc(1)]);
}

/** A record with `rdata` in base64 and names in stored form. */
interface JsonRecord extends Omit<CustomerRecord, 'name' | 'rdata'> {
  readonly name: string;
  readonly rdata: string;
}

export interface JsonOperation {
  readonly op: SavedOperation['op'];
  readonly before?: JsonRecord;
  readonly after?: JsonRecord;
}

/** Prints a list of `JsonOperation`. */
export function printOperations(ops: readonly SavedOperation[]): string {
  let text = '';
  for (const { op, before, after } of ops) {
    text += `${text === '' ? '[' : ','}{"op":"${op}"`;
    if (before !== undefined) text += `,"before":${printJsonRecord(before)}`;
    if (after !== undefined) text += `,"after":${printJsonRecord(after)}`;
    text += '}';
  }
  return text === '' ? '[]' : `${text}]`;
}

export function decodeOperation({ op, before, after }: JsonOperation): SavedOperation {
  return {
    op,
    ...(before !== undefined && { before: decodeJsonRecord(before) }),
    ...(after !== undefined && { after: decodeJsonRecord(after) }),
  };
}

/** Prints numbers, and texts that need no escapes, directly: `JSON.stringify` would need an object for each record. */
function printJsonRecord(record: CustomerRecord): string {
  const { id, name, type, rdata, ttl, createdAt, updatedAt } = record;
  const octets = octetsOf(rdata).toString('base64');
  return `{"id":${id},"name":${JSON.stringify(encodeNameColumn(name))},"type":"${type}","rdata":"${octets}","ttl":${ttl},${printSettings(record)},"createdAt":"${createdAt}","updatedAt":"${updatedAt}"}`;
}

function printSettings(record: RecordSettings): string {
  if (SETTING_NAMES.every((name) => record[name] === DEFAULT_SETTINGS[name])) return DEFAULTS_TEXT;
  return printMembers(record);
}

const DEFAULTS_TEXT = printMembers(DEFAULT_SETTINGS);

function printMembers(settings: RecordSettings): string {
  return SETTING_NAMES.map((name) => `"${name}":${JSON.stringify(settings[name])}`).join(',');
}

function decodeJsonRecord(record: JsonRecord): CustomerRecord {
  return {
    ...record,
    name: decodeNameColumn(record.name),
    rdata: new Uint8Array(Buffer.from(record.rdata, 'base64')),
  };
}

const NEXT_ID = sql`nextval(pg_get_serial_sequence('records', 'id'))`;

/**
 * Allocates ids as an array within another statement. A series of unknown length would make Postgres expect a thousand
 * rows, and plan the statement again each time.
 */
export function newRecordIds(count: number): RawBuilder<unknown> {
  return sql`json_build_array(${sql.join(Array<typeof NEXT_ID>(count).fill(NEXT_ID))})`;
}

/** Allocates ids, in ascending order. The sequence is looked up once, which costs more than an id. */
export async function allocateRecordIds(trx: Database, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { rows } = await sql<{ ids: number[] }>`
    select json_agg(nextval(name)) as ids
    from (select pg_get_serial_sequence('records', 'id')::regclass as name offset 0) s,
      generate_series(1, ${count}::integer)`.execute(trx);
  return (rows[0] as { ids: number[] }).ids.sort((a, b) => a - b);
}

/** Writes the records as parts of a WITH. Constraints check the combined result. */
export function recordsWritten(domainId: number, ops: readonly SavedOperation[]): RawBuilder<unknown>[] {
  const gone: number[] = [];
  const updated: CustomerRecord[] = [];
  const created: CustomerRecord[] = [];
  for (const { op, before, after } of ops) {
    if (after === undefined) gone.push((before as CustomerRecord).id);
    else if (op === 'update') updated.push(after);
    else created.push(after);
  }
  const parts: RawBuilder<unknown>[] = [];
  // `+ 0` rules out the indexes by domain. Postgres would read all records of a large one, because most domains have few.
  if (gone.length > 0) {
    parts.push(sql`deleted_records as (
      delete from records where id = any(${gone}::bigint[]) and domain_id + 0 = ${domainId})`);
  }
  if (updated.length > 0) {
    parts.push(sql`updated_records as (
      update records r set name = n.name, type = n.type, rdata = n.rdata, identity = n.identity,
        destination = n.destination, ttl = n.ttl, proxied = n.proxied, captcha = n.captcha, scheme = n.scheme,
        port = n.port, host_header = n.host_header, monitor = n.monitor, dest_country = n.dest_country,
        timeout = n.timeout, comment = n.comment, updated_at = n.updated_at
      from ${recordsAsTable(domainId, updated)} n
      where r.id = n.id and r.domain_id + 0 = n.domain_id)`);
  }
  if (created.length > 0) {
    parts.push(sql`created_records as (
      insert into records (${RECORD_COLUMN_NAMES})
      select ${RECORD_COLUMN_NAMES} from ${recordsAsTable(domainId, created)} n)`);
  }
  return parts;
}
