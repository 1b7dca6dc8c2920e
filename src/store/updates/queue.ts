// The queue of dynamic updates between nodes and API processes. A node inserts each message and waits for its answer; one
// API process claims the message, carries it out, and writes the answer.

import { sql } from 'kysely';
import { DatabaseError } from 'pg';
import type { Name } from '../../dns/name.ts';
import type { Connection } from '../postgres/connection.ts';
import type { Database } from '../postgres/database.ts';
import { decodeNameColumn, encodeNameColumn } from '../postgres/name-column.ts';

/** Notifies the API processes of new messages. */
export const UPDATES_CHANNEL = 'dns_updates';
/** Notifies nodes of answers. The payload is the name of the node. */
export const UPDATE_ANSWERS_CHANNEL = 'dns_update_answers';

/** Number of messages of a node that can wait. */
export const UPDATE_SLOTS = 1024;
/** A node answers SERVFAIL this long after a message has arrived. */
export const UPDATE_WAIT_MS = 3000;
/** After this time, another API process may claim the message, unless the claim is renewed. */
const CLAIM_MS = 1500;

export interface OfferedUpdate {
  /** From 0 to 1023. */
  readonly slot: number;
  /** The message as received, with its TSIG record. */
  readonly octets: Uint8Array;
  /** The address of the client. */
  readonly address: string;
  readonly transport: 'udp' | 'tcp';
  /** When the node stops waiting, by the database's clock, in milliseconds since 1970. */
  readonly deadlineMs: number;
}

/** The zone and the serial after a change. */
export interface UpdatedZone {
  readonly apex: Name;
  readonly serial: number;
}

export interface UpdateAnswer {
  readonly slot: number;
  /** The whole signed answer. */
  readonly answer: Uint8Array;
  /** Undefined if nothing was changed. Set if an earlier transmission of the message made the change. */
  readonly change: UpdatedZone | undefined;
}

const UNIQUE_VIOLATION = '23505';

/** Inserts messages of a node, and notifies the API processes. Replaces rows that use the same slots. */
export async function offerUpdates(
  connection: Connection,
  node: string,
  instance: string,
  updates: readonly OfferedUpdate[],
): Promise<void> {
  if (updates.length === 0) return;
  const slots = updates.map(({ slot }) => slot);
  const insert = () =>
    connection.query(
      `with offered as (
         insert into dns_updates (node, slot, instance, octets, address, transport, deadline)
         select $1, o.slot, $2, o.octets, o.address, o.transport, to_timestamp(o.deadline / 1000)
         from unnest($3::integer[], $4::bytea[], $5::inet[], $6::text[], $7::float8[])
           as o(slot, octets, address, transport, deadline))
       select pg_notify('${UPDATES_CHANNEL}', '')`,
      [
        node,
        instance,
        slots,
        updates.map(({ octets }) => Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength)),
        updates.map(({ address }) => address),
        updates.map(({ transport }) => transport),
        updates.map(({ deadlineMs }) => deadlineMs),
      ],
    );
  try {
    await insert();
  } catch (error) {
    if (!(error instanceof DatabaseError) || error.code !== UNIQUE_VIOLATION) throw error;
    // Rows of a former instance, or of a statement whose result was lost.
    await connection.query(
      'delete from dns_updates where node = $1 and (instance <> $2 or slot = any($3::integer[]))',
      [node, instance, slots],
    );
    await insert();
  }
}

/** Returns and deletes the answered rows of this instance of the node. */
export async function takeUpdateAnswers(
  connection: Connection,
  node: string,
  instance: string,
): Promise<UpdateAnswer[]> {
  const rows = await connection.query(
    `delete from dns_updates where node = $1 and instance = $2 and answer is not null
     returning slot, answer, apex, serial`,
    [node, instance],
  );
  return (rows as [number, Buffer, string | null, number | null][]).map(([slot, answer, apex, serial]) => ({
    slot,
    answer,
    change: decodeChange(apex, serial),
  }));
}

/** Deletes rows of this instance of the node, which no longer waits for them. */
export async function dropUpdates(
  connection: Connection,
  node: string,
  instance: string,
  slots: readonly number[],
): Promise<void> {
  if (slots.length === 0) return;
  await connection.query(
    'delete from dns_updates where node = $1 and instance = $2 and slot = any($3::integer[])',
    [node, instance, [...slots]],
  );
}

/** A message that this process carries out. */
export interface ClaimedUpdate extends Omit<OfferedUpdate, 'deadlineMs'> {
  readonly node: string;
  readonly instance: string;
  /** When the message was inserted, as text. Another message in the same slot has another time. */
  readonly at: string;
  /** Time since the message was inserted. */
  readonly ageMs: number;
  /** When the node stops waiting, as text. */
  readonly deadline: string;
  /** Time until the deadline. */
  readonly leftMs: number;
}

/** Claims the oldest messages that no running process is carrying out. */
export async function claimUpdates(db: Database, most: number): Promise<ClaimedUpdate[]> {
  const { rows } = await sql<ClaimedUpdate>`
    update dns_updates u set claimed_at = clock_timestamp()
    from (
      select node, slot from dns_updates
      where answer is null and deadline > clock_timestamp()
        and (claimed_at is null or claimed_at < clock_timestamp() - ${milliseconds(CLAIM_MS)})
      order by at limit ${most} for update skip locked) c
    where u.node = c.node and u.slot = c.slot
    returning u.node, u.slot, u.instance, u.octets, host(u.address) as address, u.transport, u.at::text as at,
      (extract(epoch from clock_timestamp() - u.at) * 1000)::float8 as "ageMs", u.deadline::text as deadline,
      (extract(epoch from u.deadline - clock_timestamp()) * 1000)::float8 as "leftMs"`.execute(db);
  return rows.sort((a, b) => (a.at < b.at ? -1 : 1));
}

/**
 * Renews claims, so that no other process carries out the same messages. Skips rows that are locked: their node is deleting
 * them in its own order, and waiting for it could end in a deadlock.
 */
export async function renewClaims(db: Database, claimed: readonly ClaimedUpdate[]): Promise<void> {
  if (claimed.length === 0) return;
  await sql`
    update dns_updates u set claimed_at = clock_timestamp()
    from (
      select d.node, d.slot from dns_updates d
      join unnest(${claimed.map(({ node }) => node)}::text[], ${claimed.map(({ slot }) => slot)}::integer[],
        ${claimed.map(({ at }) => at)}::timestamptz[]) as c (node, slot, at) using (node, slot, at)
      where d.answer is null for update of d skip locked) c
    where u.node = c.node and u.slot = c.slot`.execute(db);
}

/** Writes an answer and notifies the node. Has no effect if the node no longer waits, or has its answer. */
export async function answerUpdate(
  db: Database,
  { node, slot, instance, at }: ClaimedUpdate,
  answer: Uint8Array,
  change: UpdatedZone | undefined,
): Promise<void> {
  await sql`
    with answered as (
      update dns_updates set answer = ${Buffer.from(answer)},
        apex = ${change === undefined ? null : encodeNameColumn(change.apex)}, serial = ${change?.serial ?? null}
      where node = ${node} and slot = ${slot} and instance = ${instance} and at = ${at}::timestamptz
        and answer is null
      returning node)
    select pg_notify(${UPDATE_ANSWERS_CHANNEL}, node) from answered`.execute(db);
}

export function decodeChange(apex: string | null, serial: number | null): UpdatedZone | undefined {
  return apex === null || serial === null ? undefined : { apex: decodeNameColumn(apex), serial };
}

function milliseconds(ms: number) {
  return sql`make_interval(secs => ${ms / 1000})`;
}
