// Edits of published zones as the API writes them, with many zones per transaction: an A record set and the SOA's serial,
// the zone's version, a change in the feed, and then the wake-up.

import { Client } from 'pg';
import { CHANGES_CHANNEL } from '../../src/store/postgres/announce-changes.ts';

export interface RecordEdit {
  /** In the format of the table `zones`. */
  readonly zone: string;
  /** Has one A record. */
  readonly owner: string;
  /** The record's four octets. */
  readonly address: Buffer;
}

/** Commits the edits of a stream. */
export interface EditWriter {
  /** Each zone once. */
  write(edits: readonly RecordEdit[]): Promise<void>;
  end(): Promise<void>;
}

/** Writes as the API does, without its planning. */
export async function openRecordWriter(url: string): Promise<EditWriter> {
  const client = new Client({ connectionString: url });
  await client.connect();
  return { write: (edits) => editRecords(client, edits), end: () => client.end() };
}

/** Each zone once. Resolves when the edits are committed; the wake-up is on its way then. */
async function editRecords(client: Client, edits: readonly RecordEdit[]): Promise<void> {
  const { rowCount } = await client.query({
    name: 'edit',
    text: SQL,
    values: [edits.map((e) => e.zone), edits.map((e) => e.owner), edits.map((e) => e.address)],
  });
  if (rowCount !== edits.length)
    throw new Error(`${edits.length - (rowCount ?? 0)} zones to edit do not exist`);
  // Without NOTIFY, nodes poll once per second.
  client.query('select pg_notify($1, $2)', [CHANGES_CHANNEL, '']).catch(() => {});
}

const TYPE_A = 1;
const TYPE_SOA = 6;
/** Octets of the SOA's rdata from its serial on. */
const SOA_NUMBERS = 20;

const SQL = `
  with locked as materialized (
    select id, name from zones where name = any($1::text[]) order by name for update),
  edits as materialized (
    select l.id, l.name, e.owner, e.address, nextval('change_version') as version,
      (random() * 9007199254740991)::bigint as mark
    from locked l join unnest($1::text[], $2::text[], $3::bytea[]) as e(name, owner, address) using (name)),
  addressed as (
    update zone_records r set rdata = e.address, version = e.version from edits e
    where r.zone_id = e.id and r.owner = e.owner and r.type = ${TYPE_A} and not r.removed),
  numbered as (
    update zone_records r set version = e.version, rdata = overlay(
      r.rdata placing int4send((e.version & 2147483647)::integer) from octet_length(r.rdata) - ${SOA_NUMBERS - 1})
    from edits e where r.zone_id = e.id and r.owner = e.name and r.type = ${TYPE_SOA} and not r.removed),
  versioned as (
    update zones z set version = e.version, mark = e.mark from edits e where z.id = e.id)
  insert into changes (id, zone_id, zone, operation, source, mark)
  select version, id, name, 'zone.save', 'test', mark from edits`;
