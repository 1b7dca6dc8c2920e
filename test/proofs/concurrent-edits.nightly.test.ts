// Many clients that edit the same names at once through the API: none of them meets a fault, and the log of changes,
// replayed in its order, is exactly what each of them was told and what is there in the end.

import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkPublished } from '../../src/store/housekeeping/check-published.ts';
import { randomOf } from '../support/billing/random.ts';
import { createDatabase, type TestDatabase } from '../support/database/database.ts';
import { type ApiProcess, type HttpAnswer, startApi } from '../support/processes/api-process.ts';
import { scale } from '../support/tests/scale.ts';

const CLIENTS = 32;
const DURATION_MS = scale(60_000, 6_000);
const MIN_CHANGES = 20;
const SEED = Number(process.env.ZONEFLEET_SEED ?? Math.floor(Math.random() * 2 ** 31));
const DOMAIN = 'edited-at-once.com';
const BASE = `/domains/${DOMAIN}/`;
const RECORDS = `${BASE}records/`;
const NAMES = ['a', 'b', 'c', 'x.c', '@'];

interface RecordText {
  readonly id: number;
  readonly [field: string]: unknown;
}

interface LoggedChange {
  readonly id: number;
  readonly serial: number;
  readonly records: { op: string; before?: RecordText; after?: RecordText }[];
}

let database: TestDatabase;
let api: ApiProcess;

beforeAll(async () => {
  database = await createDatabase();
  api = await startApi(database.url);
});

afterAll(async () => {
  await api?.stop();
  await database?.drop();
});

type Random = (below: number) => number;

function pick<T>(random: Random, from: readonly T[]): T {
  return from[random(from.length)] as T;
}

function randomContent(random: Random, type: string): object {
  const ttl = random(3) === 0 ? { ttl: pick(random, [60, 300, 900]) } : {};
  const n = random(4);
  switch (type) {
    case 'A':
      return { destination: `192.0.2.${n}`, ...ttl, ...(random(4) === 0 && { proxied: true }) };
    case 'MX':
      return { destination: `mx${n}.example.net`, mx_priority: random(3), ...ttl };
    case 'TXT':
      return { destination: `text ${n}`, ...ttl };
    default:
      return { destination: `host${n}.example.net`, ...ttl, ...(random(2) === 0 && { proxied: true }) };
  }
}

function randomRecord(random: Random): { name: string; type: string } {
  const type = pick(random, ['A', 'A', 'TXT', 'MX', 'CNAME', 'NS']);
  return { name: pick(random, NAMES), type, ...randomContent(random, type) };
}

/** What a caller saw last: ids and changes that may be gone meanwhile. */
const seen = { ids: [] as number[], changes: [] as number[] };

function randomCall(random: Random): Promise<HttpAnswer> {
  const id = seen.ids.length === 0 ? 1 : pick(random, seen.ids);
  switch (random(9)) {
    case 0:
    case 1:
      return api.ask('POST', RECORDS, randomRecord(random));
    case 2:
      return api.ask('PUT', `${RECORDS}${id}`, { comment: `c${random(1000)}` });
    case 3:
      return api.ask('PUT', `${RECORDS}${id}`, randomRecord(random));
    case 4:
      return api.ask('DELETE', `${RECORDS}${id}`);
    case 5: {
      const { name, type } = randomRecord(random);
      const records = Array.from({ length: random(3) }, () => randomContent(random, type));
      return api.ask('PUT', `${RECORDS}batch`, {
        replace: [{ name, type, records: records.map(withoutTtl) }],
      });
    }
    case 6:
      return api.ask('PUT', `${RECORDS}batch`, {
        delete: [id],
        update: [{ id: pick(random, [...seen.ids, 1]), ttl: pick(random, [60, 300, 900]) }],
        create: [randomRecord(random), randomRecord(random)],
      });
    case 7:
      return api.ask('POST', `${BASE}changes/${pick(random, [...seen.changes, 1])}/revert`);
    default:
      return api.ask('GET', RECORDS);
  }
}

function withoutTtl({ ttl: _, ...content }: { ttl?: number }): object {
  return content;
}

function note({ status, headers, body }: HttpAnswer): void {
  if (status !== 200) return;
  if (Array.isArray(body)) seen.ids = body.map(({ id }: RecordText) => id);
  if (headers['x-change-id'] === undefined) return;
  seen.changes.push(Number(headers['x-change-id']));
  if (seen.changes.length > 20) seen.changes.shift();
}

/** Without what is made of it. */
function written(record: RecordText): object {
  const {
    user_id: _1,
    domain_id: _2,
    dns_content: _3,
    editable: _4,
    created_at: _5,
    updated_at: _6,
    ...rest
  } = record;
  return rest;
}

function replay(changes: readonly LoggedChange[]): Map<number, object> {
  const state = new Map<number, object>();
  let serial = 1;
  for (const change of changes) {
    expect(change.serial).toBe(++serial);
    for (const { before } of change.records) {
      if (before === undefined) continue;
      expect(state.get(before.id), `what change ${change.id} found`).toEqual(before);
      state.delete(before.id);
    }
    for (const { after } of change.records) {
      if (after === undefined) continue;
      expect(state.has(after.id), `record ${after.id} before change ${change.id}`).toBe(false);
      state.set(after.id, after);
    }
  }
  return state;
}

test(`${CLIENTS} clients edit the same names: no fault, no lost update (seed ${SEED})`, async () => {
  const made = await api.ask('POST', '/domains/', { name: DOMAIN, scan: false });
  expect(made.status).toBe(200);
  const statuses = new Map<number, number>();
  const acknowledged = new Map<number, HttpAnswer>();
  const faults: unknown[] = [];
  const untilMs = performance.now() + DURATION_MS;
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const random = randomOf(SEED + client * 7919);
      // On a machine that has much else to do the time alone would bring few changes.
      while (performance.now() < untilMs || acknowledged.size <= MIN_CHANGES) {
        const answer = await randomCall(random);
        statuses.set(answer.status, (statuses.get(answer.status) ?? 0) + 1);
        if (![200, 400, 404, 409].includes(answer.status)) faults.push([answer.status, answer.body]);
        const changeId = answer.headers['x-change-id'];
        if (answer.status === 200 && changeId !== undefined) {
          if (acknowledged.has(Number(changeId))) faults.push(`change ${changeId} twice`);
          acknowledged.set(Number(changeId), answer);
        }
        note(answer);
      }
    }),
  );
  expect(faults).toEqual([]);

  const log = (
    (await api.ask('GET', `${BASE}changes`)).body as (LoggedChange & { status?: object })[]
  ).reverse();
  const [, ...changes] = log; // without the domain's creation
  expect(changes.map(({ id }) => id)).toEqual([...acknowledged.keys()].sort((a, b) => a - b));
  for (const { id, serial, records } of changes) {
    const { headers, body } = acknowledged.get(id) as HttpAnswer;
    expect(Number(headers['x-zone-serial'])).toBe(serial);
    // a single record's answer is what this change made of it
    if (body.original_name !== undefined) {
      expect(records.find(({ after }) => after?.id === body.id)?.after).toEqual(written(body));
    }
  }
  const final = (await api.ask('GET', RECORDS)).body as RecordText[];
  const state = replay(changes);
  const there = final.filter(({ editable }) => editable === true);
  expect(new Map(there.map((record) => [record.id, written(record)]))).toEqual(state);
  expect(await checkPublished(database.db, made.body.id)).toEqual([]);
  const told = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${count} × ${status}`);
  console.info(
    `${CLIENTS} clients, ${DURATION_MS / 1000} s: ${told.join(', ')}; ${changes.length} changes, seed ${SEED}`,
  );
});
