// Keys of another operator in the zone of a domain: what its owner may ask for, and what is refused.

import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { MOST_FOREIGN_KEYS } from '../../../src/checks/dnssec/foreign-key.ts';
import { makeKey, SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import { sharedTestApi } from '../../support/api/api.ts';

const api = sharedTestApi();
let domains = 0;
let name = '';
let domainId = 0;

beforeEach(async () => {
  name = `two-signers-${++domains}.test`;
  domainId = (await api.makeDomain(name)).id;
});

interface KeyBody {
  flags: number;
  protocol: number;
  algorithm: number;
  public_key: string;
}

function made(flags = 257): KeyBody {
  const { dnskey } = makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, flags);
  const public_key = Buffer.from(dnskey.subarray(4)).toString('base64');
  return { flags, protocol: 3, algorithm: 13, public_key };
}

async function ask(method: 'GET' | 'POST' | 'PUT', end = '', body?: object) {
  return await api.ask(
    method,
    `/domains/${name}/dnssec${end}`,
    body === undefined ? {} : { body: JSON.stringify(body) },
  );
}

const put = (...keys: object[]) => ask('PUT', '/foreign-keys', { keys });

it('replaces the list of keys; an equal list is no change', async () => {
  await ask('POST', '/enable', {});
  const [entry, data] = [made(), made(256)];
  const answer = await put(entry, data);
  expect(answer.status).toBe(200);
  expect(answer.body.foreign_keys).toMatchObject([entry, data]);
  expect(answer.body.keys).toHaveLength(1);
  expect(Number(answer.headers['x-change-id'])).toBeGreaterThan(0);
  expect((await put(data, entry)).headers['x-change-id']).toBeUndefined();
  expect((await put(data)).body.foreign_keys).toMatchObject([data]);
  expect((await put()).body.foreign_keys).toEqual([]);
  // A key that is listed again reuses its row.
  await put(entry, data);
  const { rows } = await sql`select from signing_keys where origin = 'foreign' and signed_zone_id = (
    select id from signed_zones where domain_id = ${domainId})`.execute(api.database.db);
  expect(rows).toHaveLength(2);
});

it.each([
  ['too many keys', () => Array.from({ length: MOST_FOREIGN_KEYS + 1 }, () => made()), 'keys'],
  ['invalid base64', () => [made(), { ...made(), public_key: 'AwEAA' }], 'keys[1].public_key'],
  ['another protocol', () => [{ ...made(), protocol: 1 }], 'keys[0].protocol'],
])('responds 400 to %s, and changes nothing', async (_, keys, field) => {
  await ask('POST', '/enable', {});
  const { status, body } = await put(...keys());
  expect(status).toBe(400);
  expect(body).toMatchObject({ code: 'validation_failed', fields: [{ field }] });
  expect((await ask('GET')).body.foreign_keys).toEqual([]);
});

it('refuses keys that are no zone keys, duplicates and keys of Zonefleet, with their index', async () => {
  await ask('POST', '/enable', {});
  const key = made();
  const stored = await sql<{ key: Buffer }>`
    select public_key as key from signing_keys where signed_zone_id = (
      select id from signed_zones where domain_id = ${domainId})`.execute(api.database.db);
  const own = { ...made(), public_key: stored.rows[0]?.key.toString('base64') };
  for (const list of [
    [key, { ...made(), flags: 385 }],
    [key, key],
    [key, own],
    [key, { ...made(), public_key: Buffer.alloc(64, 7).toString('base64') }],
  ])
    expect(await put(...list)).toMatchObject({
      status: 400,
      body: {
        code: 'validation_failed',
        error: expect.stringMatching(/^keys\[1\]: /),
        fields: [{ field: 'keys[1]' }],
      },
    });
  expect((await ask('GET')).body.foreign_keys).toEqual([]);
});

it('responds 409 dnssec_algorithm to keys of another algorithm', async () => {
  await ask('POST', '/enable', {});
  const rsa = { ...made(), algorithm: 8, public_key: Buffer.alloc(516, 3).toString('base64') };
  for (const key of [rsa, { ...made(), algorithm: 15, public_key: Buffer.alloc(32, 3).toString('base64') }])
    expect(await put(key)).toMatchObject({ status: 409, body: { code: 'dnssec_algorithm' } });
});

it('refuses keys and imports for a domain that is not signed', async () => {
  for (const answer of [await put(made()), await ask('POST', '/import-keys')])
    expect(answer).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
});

it('requests an import from a worker, at most once in five minutes', async () => {
  await ask('POST', '/enable', {});
  const asked = await ask('POST', '/import-keys');
  expect(asked).toMatchObject({ status: 200, body: { foreign_import: { state: 'asked' } } });
  expect((await ask('POST', '/import-keys')).headers['x-change-id']).toBeUndefined();
  await sql`
    update signed_zones set machine = jsonb_set(machine, '{foreign}', machine -> 'foreign' || jsonb_build_object(
      'importAskedAt', null, 'imported', jsonb_build_object(
        'at', extract(epoch from clock_timestamp()) * 1000, 'failure', 'the parent shows no DS record')))
    where domain_id = ${domainId}`.execute(api.database.db);
  expect((await ask('GET')).body).toMatchObject({
    foreign_import: { state: 'failed', message: 'the parent shows no DS record' },
    findings: [{ code: 'FOREIGN_KEYS_REFUSED' }],
  });
  expect(await ask('POST', '/import-keys')).toMatchObject({ status: 409, body: { code: 'dnssec_busy' } });
  // A list given since replaces the warning.
  expect((await put()).body).toMatchObject({ foreign_import: { state: 'failed' }, findings: [] });
  expect(await ask('POST', '/import-keys')).toMatchObject({ status: 409, body: { code: 'dnssec_busy' } });
});

it('limits the number of different keys per day, whose rows stay as long as the domain', async () => {
  await ask('POST', '/enable', {});
  const statuses: number[] = [];
  for (let lists = 0; lists < 4; lists++) statuses.push((await put(made(), made(), made(), made())).status);
  expect(statuses).toEqual([200, 200, 200, 409]);
});

it('keys of another operator do not outlive the domain', async () => {
  await ask('POST', '/enable', {});
  expect((await put(made())).status).toBe(200);
  expect((await api.ask('DELETE', `/domains/${name}`)).status).toBe(200);
  await api.makeDomain(name);
  expect((await ask('GET')).body).toMatchObject({ status: 'off', foreign_keys: [], dnskey: [] });
});
