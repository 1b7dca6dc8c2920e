// DNSSEC as the owner of a domain sees it at each stage, the allowed requests, and the refused ones.

import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { advance, written } from '../../../src/checks/dnssec/advance.ts';
import { MOST_FOREIGN_KEYS } from '../../../src/checks/dnssec/foreign-key.ts';
import type { Machine } from '../../../src/checks/dnssec/machine.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { dsOfKey } from '../../../src/checks/dnssec/told/parent-view.ts';
import { loadDnssec } from '../../../src/store/dnssec/dnssec-state.ts';
import { loadServing } from '../../../src/store/dnssec/key-facts.ts';
import { printPrivateKey } from '../../../src/zone/signing/private-key.ts';
import { makeKey, SIGNING_ALGORITHM } from '../../../src/zone/signing/signing-key.ts';
import { sharedTestApi } from '../../support/api/api.ts';
import { dsEvidence, HOUR } from '../../support/simulation/dnssec/quiet-domain.ts';

const api = sharedTestApi();
let domains = 0;
let name = '';
let domainId = 0;

beforeEach(async () => {
  name = `signed-${++domains}.test`;
  domainId = (await api.makeDomain(name)).id;
});

const ask = (method: 'GET' | 'POST' | 'PUT', end = '', body?: object, as = 'owner') =>
  api.ask(method, `/domains/${name}/dnssec${end}`, { as, ...(body && { body }) });
const read = async () => (await ask('GET')).body;
const enable = (body = {}) => ask('POST', '/enable', body);
const refusal = (status: number, code: string) => ({ status, body: { code } });
/** Updates the row of the domain in signed_zones. */
const setZone = (set: ReturnType<typeof sql>) =>
  api.query`update signed_zones set ${set} where domain_id = ${domainId}`;
/** Runs `work` while the fleet contains a nameserver that cannot answer with denial records. */
async function withOldNode<T>(work: () => Promise<T>): Promise<T> {
  await api.query`insert into nodes (name, instance, started_at) values ('old', gen_random_uuid(), now())`;
  const done = await work();
  await api.query`delete from nodes where name = 'old'`;
  return done;
}

async function machineOf(): Promise<Machine> {
  return (await loadDnssec(api.database.db, domainId))?.machine as Machine;
}

/** Simulates this many hours of a fleet without failures, whose parent shows these DS records. */
async function goOn(hours: number, shown: (machine: Machine) => readonly string[] = () => []): Promise<void> {
  let machine = await machineOf();
  let version = machine.version ?? 1;
  const { epoch } = await loadServing(api.database.db, null);
  const start = machine.clock;
  for (let hour = 1; hour <= hours; hour++) {
    const at = start + hour * HOUR;
    const ds = shown(machine);
    const seen = {
      at,
      epoch,
      nodes: [{ id: 'n', version, heardAt: at, isGone: false }],
      dataTtl: 300,
      delegation: { kind: 'ours', since: 0, ttl: 3600, isFirst: true },
      ds: dsEvidence([ds, ds], 3600, at),
      preflight: { at, verifiedBy: machine.serving.keySigners, hasStrangers: false },
    } as const;
    const { machine: next, step } = advance(machine, seen, RULES);
    machine = step === undefined ? next : written(next, ++version);
  }
  await setZone(sql`machine = ${JSON.stringify(machine)}`);
}

const askedDs = ({ asked, keys }: Machine) =>
  keys.filter(({ id }) => asked.includes(id)).flatMap((key) => dsOfKey(key, 2) ?? []);

describe('a domain', () => {
  it('is unsigned until its owner enables DNSSEC', async () => {
    const off = { status: 'off', goal: 'unsigned', keys: [], ds: [] };
    expect(await ask('GET')).toMatchObject({ status: 200, body: off });
    const { status, headers, body } = await enable();
    expect(status).toBe(200);
    expect(body).toMatchObject({
      status: 'signing',
      goal: 'signed',
      denial: 'nsec',
      algorithm: { number: 13, name: 'ECDSAP256SHA256' },
      ds: [],
      registrar: { action: 'wait', add: [], remove: [] },
      keys: [{ role: 'csk', state: 'made', ds: 'none', origin: 'ours' }],
    });
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    expect(await read()).toEqual(body);
  });

  it('with two keys can roll one of them, or abort a change of algorithm', async () => {
    await enable({ split: true });
    await goOn(24 * 12, askedDs);
    const [, zsk] = (await read()).keys;
    const roll = (body: object) => ask('POST', '/rollover', body);
    expect(await roll({ key_id: 999_999_999 })).toMatchObject(refusal(400, 'wrong_state'));
    expect((await roll({ algorithm: 8 })).status).toBe(400);
    const roles = [{ role: 'ksk' }, { role: 'zsk' }, { role: 'zsk' }];
    expect((await roll({ key_id: zsk.id })).body.keys).toMatchObject(roles);
    expect(await roll({})).toMatchObject(refusal(409, 'dnssec_busy'));
    await goOn(24 * 12, askedDs);
    const rolled = await roll({ reason: 'planned', algorithm: 15, split: false });
    expect(rolled).toMatchObject({ status: 200, body: { algorithm: { number: 15, name: 'ED25519' } } });
    expect(await ask('POST', '/abort')).toMatchObject({ status: 200, body: { algorithm: { number: 13 } } });
  });

  it('returns the DS to enter when resolvers are ready for it, and then the state of the parent', async () => {
    await enable();
    await goOn(24 * 12);
    const wanted = await read();
    const [first] = wanted.ds;
    expect(wanted).toMatchObject({
      status: 'ds_wanted',
      ds: [{ digest_type: 2, cds: true, key_tag: wanted.keys[0].key_tag }, { digest_type: 4 }],
      registrar: { action: 'add', add: [first] },
      dnskey: [{ flags: 257, protocol: 3, algorithm: 13 }],
      findings: [{ code: 'DS_WANTED', severity: 'info' }],
    });
    await goOn(24 * 2, askedDs);
    const secure = await read();
    expect(secure).toMatchObject({
      status: 'secure',
      registrar: { action: 'none' },
      keys: [{ state: 'signing', ds: 'seen' }],
      at_parent: { addresses: 2, agreeing: 2, ttl: 3600, ds: [{ ours: true, key_id: secure.keys[0].id }] },
      leaving: { wait_seconds: 3600 },
      findings: [],
    });
    const ds = askedDs(await machineOf());
    // The signatures remain while the parent shows a DS.
    await ask('POST', '/disable');
    await goOn(24 * 12, () => ds);
    expect(await read()).toMatchObject({
      status: 'ds_removal',
      goal: 'unsigned',
      ds: [],
      registrar: { action: 'remove', remove: ds },
    });
  });

  it('changes the denial of existence without the registrar, and back again', async () => {
    await enable();
    await goOn(24 * 12, askedDs);
    const put = (denial: string) => ask('PUT', '', { denial });
    const changed = await put('nsec3');
    expect(changed).toMatchObject({ status: 200, body: { status: 'secure', denial: 'nsec3' } });
    expect(Number(changed.headers['x-change-id'])).toBeGreaterThan(0);
    expect(changed.body.next_denial).toBeUndefined();
    const same = await put('nsec3');
    expect([same.body, same.headers['x-change-id']]).toEqual([changed.body, undefined]);
    // Workers write the records of a large zone first.
    await setZone(sql`denial_change = 'adding'`);
    expect(await read()).toMatchObject({ denial: 'nsec3', next_denial: 'nsec' });
    expect((await put('nsec')).headers['x-change-id']).toBeUndefined();
    const back = await put('nsec3');
    expect(Number(back.headers['x-change-id'])).toBeGreaterThan(0);
    expect(back.body).toEqual(changed.body);
  });
});

describe('a request is refused', () => {
  it.each([
    ['POST', '/enable', { denial: 'nsec5' }, 'denial'],
    ['POST', '/enable', { algorithm: 8 }, 'algorithm'],
    ['POST', '/enable', { split: 'yes' }, 'split'],
    ['PUT', '', {}, 'denial'],
  ] as const)('%s dnssec%s with the wrong body %j', async (method, end, body, field) => {
    const fields = [{ field }];
    const answer = await ask(method, end, body);
    expect(answer).toMatchObject({ status: 400, body: { code: 'validation_failed', fields } });
  });

  it.each([
    ['POST', '/rollover', {}],
    ['POST', '/abort', undefined],
    ['POST', '/check', undefined],
    ['PUT', '', { denial: 'nsec3' }],
    ['PUT', '/foreign-keys', { keys: [] }],
    ['POST', '/import-keys', undefined],
  ] as const)('%s dnssec%s for a domain that is not signed', async (method, end, body) => {
    expect(await ask(method, end, body)).toMatchObject(refusal(400, 'wrong_state'));
  });

  it('to change how the domain is signed while it is being signed', async () => {
    await enable({ denial: 'nsec' });
    await goOn(2);
    expect(await enable({ denial: 'nsec3' })).toMatchObject(refusal(409, 'dnssec_busy'));
    await setZone(sql`phase = 'signing'`);
    expect(await ask('PUT', '', { denial: 'nsec3' })).toMatchObject(refusal(409, 'dnssec_busy'));
  });

  it('to sign, or to use NSEC3, while a nameserver would answer without denial records', async () => {
    const answer = await withOldNode(() => enable());
    expect(answer).toMatchObject(refusal(503, 'dnssec_unavailable'));
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.body.error).toContain('old');
    await enable();
    const put = await withOldNode(() => ask('PUT', '', { denial: 'nsec3' }));
    expect(put).toMatchObject(refusal(503, 'dnssec_unavailable'));
  });
});

describe('a check of the DS records', () => {
  const check = (as?: string) => ask('POST', '/check', undefined, as);
  const stored = async () => {
    const rows = await api.query<{ dsDue: boolean; isDue: boolean; isCounted: boolean }>`
      select ds_due as "dsDue", due_at <= clock_timestamp() as "isDue", look_asked_at is not null as "isCounted"
      from signed_zones where domain_id = ${domainId}`;
    return rows[0];
  };
  const DUE = { dsDue: true, isDue: true };
  const later = () => setZone(sql`due_at = clock_timestamp() + interval '1 day', ds_due = false`);
  beforeEach(async () => {
    await enable();
    await later();
  });

  it('is due immediately, at most once per hour, and returns the known state', async () => {
    const asked = await check();
    expect([asked.status, asked.body]).toEqual([200, await read()]);
    expect(await stored()).toEqual({ ...DUE, isCounted: true });
    await later();
    const again = await check('admin');
    expect(again).toMatchObject(refusal(429, 'dnssec_check_limited'));
    const seconds = Number(again.headers['retry-after']);
    expect(seconds).toBeGreaterThan(3500);
    expect(seconds).toBeLessThanOrEqual(3600);
    expect(await stored()).toMatchObject({ dsDue: false, isDue: false });
    await setZone(sql`look_asked_at = look_asked_at - interval '1 hour'`);
    expect((await check('admin')).status).toBe(200);
    expect(await stored()).toMatchObject(DUE);
  });

  it('is neither limited nor counted for operators', async () => {
    for (let i = 0; i < 3; i++) expect((await check('operator')).status).toBe(200);
    expect(await stored()).toEqual({ ...DUE, isCounted: false });
    expect((await check()).status).toBe(200);
  });

  it('is refused to an account with too many checks', async () => {
    await api.query`
      insert into check_shares (account_id, slot_ms, manual, at) values (${api.accountIds.owner}, 0, 5000, clock_timestamp())
      on conflict (account_id) do update set manual = 5000, at = clock_timestamp()`;
    const answer = await check();
    expect(answer).toMatchObject(refusal(429, 'dnssec_check_limited'));
    expect(answer.headers['retry-after']).toBe('60');
    expect(await stored()).toMatchObject({ isCounted: false });
    await api.query`delete from check_shares`;
  });
});

describe('keys of another operator', () => {
  interface KeyBody {
    flags: number;
    protocol: number;
    algorithm: number;
    public_key: string;
  }

  function made(more: Partial<KeyBody> = {}): KeyBody {
    const { dnskey } = makeKey(SIGNING_ALGORITHM.ECDSAP256SHA256, more.flags ?? 257);
    const public_key = Buffer.from(dnskey.subarray(4)).toString('base64');
    return { flags: 257, protocol: 3, algorithm: 13, public_key, ...more };
  }
  const filled = (octets: number) => Buffer.alloc(octets, 3).toString('base64');
  const put = (...keys: object[]) => ask('PUT', '/foreign-keys', { keys });
  const keysOf = async (origin: string) => {
    const rows = await api.query<{ key: Buffer }>`
      select public_key as key from signing_keys where origin = ${origin} and signed_zone_id = (
        select id from signed_zones where domain_id = ${domainId})`;
    return rows.map(({ key }) => key.toString('base64'));
  };

  it('are replaced by the list of the request, and an equal list is not a change', async () => {
    await enable();
    const [entry, data] = [made(), made({ flags: 256 })];
    const { status, headers, body } = await put(entry, data);
    expect([status, body]).toMatchObject([200, { foreign_keys: [entry, data] }]);
    expect(body.keys).toHaveLength(1);
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    expect((await put(data, entry)).headers['x-change-id']).toBeUndefined();
    expect((await put(data)).body.foreign_keys).toMatchObject([data]);
    expect((await put()).body.foreign_keys).toEqual([]);
    // A key that is listed again reuses its row.
    await put(entry, data);
    expect(await keysOf('foreign')).toHaveLength(2);
  });

  it.each<[string, (own: string) => object[], string]>([
    ['too many keys', () => Array.from({ length: MOST_FOREIGN_KEYS + 1 }, () => made()), 'keys'],
    ['invalid base64', () => [made(), made({ public_key: 'AwEAA' })], 'keys[1].public_key'],
    ['another protocol', () => [made({ protocol: 1 })], 'keys[0].protocol'],
    ['a key that is not a zone key', () => [made(), made({ flags: 385 })], 'keys[1]'],
    ['a duplicate', () => Array(2).fill(made()), 'keys[1]'],
    ['a key of Zonefleet', (own) => [made(), made({ public_key: own })], 'keys[1]'],
    ['a point off the curve', () => [made(), made({ public_key: filled(64) })], 'keys[1]'],
  ])('are refused with their index, and nothing is changed: %s', async (_, keys, field) => {
    await enable();
    const [own] = await keysOf('ours');
    const { status, body } = await put(...keys(own as string));
    expect(status).toBe(400);
    expect(body).toMatchObject({ code: 'validation_failed', fields: [{ field }] });
    expect((await read()).foreign_keys).toEqual([]);
  });

  it('of another algorithm are refused with 409 dnssec_algorithm', async () => {
    await enable();
    for (const [algorithm, octets] of [
      [8, 516],
      [15, 32],
    ] as const)
      expect(await put(made({ algorithm, public_key: filled(octets) }))).toMatchObject(
        refusal(409, 'dnssec_algorithm'),
      );
  });

  it('are imported by a worker, at most once in five minutes', async () => {
    await enable();
    const requestImport = () => ask('POST', '/import-keys');
    expect(await requestImport()).toMatchObject({
      status: 200,
      body: { foreign_import: { state: 'asked' } },
    });
    expect((await requestImport()).headers['x-change-id']).toBeUndefined();
    const message = 'the parent shows no DS record';
    await setZone(sql`machine = jsonb_set(machine, '{foreign}', machine -> 'foreign' || jsonb_build_object(
      'importAskedAt', null, 'imported', jsonb_build_object(
        'at', extract(epoch from clock_timestamp()) * 1000, 'failure', ${message}::text)))`);
    expect(await read()).toMatchObject({
      foreign_import: { state: 'failed', message },
      findings: [{ code: 'FOREIGN_KEYS_REFUSED' }],
    });
    expect(await requestImport()).toMatchObject(refusal(409, 'dnssec_busy'));
    // A list that was set later replaces the warning.
    expect((await put()).body).toMatchObject({ foreign_import: { state: 'failed' }, findings: [] });
    expect(await requestImport()).toMatchObject(refusal(409, 'dnssec_busy'));
  });

  it('are limited in number per day, and do not outlive the domain', async () => {
    await enable();
    const statuses: number[] = [];
    for (let lists = 0; lists < 4; lists++) statuses.push((await put(made(), made(), made(), made())).status);
    expect(statuses).toEqual([200, 200, 200, 409]);
    expect((await api.ask('DELETE', `/domains/${name}`)).status).toBe(200);
    await api.makeDomain(name);
    expect(await read()).toMatchObject({ status: 'off', foreign_keys: [], dnskey: [] });
  });
});

describe('private keys', () => {
  const made = (flags: 256 | 257 = 257, algorithm: 13 | 15 = 13) => {
    const key = makeKey(algorithm, flags);
    const body = { private_key: printPrivateKey(key.dnskey, key.secret, 'bind'), flags };
    return { ...key, body, secretText: Buffer.from(key.secret).toString('base64') };
  };
  const importKeys = (keys: object[], as = 'owner', more = {}) =>
    ask('POST', '/import-private-keys', { keys, ...more }, as);
  const exportKeys = (body: object = {}, as = 'owner') => ask('POST', '/export-private-keys', body, as);

  it('are imported, sign the domain instead of new ones, and are exported unchanged', async () => {
    const [ksk, zsk] = [made(), made(256)];
    const imported = await importKeys([zsk.body, ksk.body]);
    expect(imported).toMatchObject({ status: 200, body: { status: 'signing', goal: 'signed' } });
    expect(imported.body.keys).toMatchObject([
      { role: 'zsk', key_tag: zsk.tag, state: 'made' },
      { role: 'ksk', key_tag: ksk.tag, state: 'made' },
    ]);
    expect(Number(imported.headers['x-change-id'])).toBeGreaterThan(0);
    await goOn(2);
    const signers = (await read()).keys.map(({ state }: { state: string }) => state);
    expect(signers).toEqual(['signing', 'signing']);
    const exported = await exportKeys();
    expect(exported).toMatchObject({
      status: 200,
      body: {
        keys: [
          { role: 'zsk', private_key: zsk.body.private_key },
          { role: 'ksk', flags: 257 },
        ],
      },
    });
    const [id] = (await read()).keys.map((key: { id: number }) => key.id);
    const { body } = await exportKeys({ key_id: id, format: 'pem' });
    expect(body.keys).toMatchObject([{ id, private_key: expect.stringMatching(/^-----BEGIN PRIVATE KEY/) }]);
  });

  it('add a row to the audit log at each export, and are never stored unencrypted', async () => {
    const key = made();
    await api.ask('POST', `/domains/${name}/dnssec/import-private-keys`, {
      as: 'owner',
      body: { keys: [key.body] },
      headers: { 'idempotency-key': `import-${name}` },
    });
    await exportKeys();
    await exportKeys({ format: 'pem' }, 'operator');
    const rows = await api.query<{ after: object }>`
      select after from audit_log where action = 'domain.export_keys' and domain_id = ${domainId} order by id`;
    expect(rows.map(({ after }) => after)).toEqual([
      { key_tags: [key.tag], format: 'bind' },
      { key_tags: [key.tag], format: 'pem' },
    ]);
    const [all] = await api.query<{ text: string }>`
      select concat((select json_agg(k) from signing_keys k), (select json_agg(a) from audit_log a),
        (select json_agg(i) from idempotency_keys i), (select json_agg(s) from signed_zones s)) as text`;
    expect(all?.text).toContain(name);
    expect(all?.text).not.toContain(key.secretText);
    expect(all?.text).not.toContain(Buffer.from(key.secret).toString('hex'));
  });

  it('are available to the owner and global admins, but not to restricted API keys', async () => {
    const key = made();
    for (const as of ['admin', 'editor', 'viewer']) {
      expect(await importKeys([key.body], as)).toMatchObject({ status: 403 });
      expect(await exportKeys({}, as)).toMatchObject({ status: 403 });
    }
    expect((await importKeys([key.body], 'operator')).status).toBe(200);
    expect((await exportKeys({}, 'operator')).status).toBe(200);
    const restricted = await api.makeKey({ domains: [name] });
    expect(await exportKeys({}, restricted)).toMatchObject({
      status: 403,
      body: { error: expect.stringContaining('restricted') },
    });
  });

  it.each<[string, (key: ReturnType<typeof made>) => object[], string]>([
    ['no flags', ({ body }) => [{ private_key: body.private_key }], 'keys[0].flags'],
    ['an invalid DNSKEY', ({ body }) => [{ ...body, dnskey: '257 3' }], 'keys[0].dnskey'],
    [
      'another public key',
      ({ body }) => [
        { ...body, dnskey: `257 3 13 ${Buffer.from(made().dnskey.subarray(4)).toString('base64')}` },
      ],
      'keys[0].private_key',
    ],
    [
      'an RSA key',
      ({ body }) => [{ ...body, private_key: 'Private-key-format: v1.3\nAlgorithm: 8\n' }],
      'keys[0].private_key',
    ],
    [
      'a key that is too long',
      ({ body }) => [{ ...body, private_key: 'x'.repeat(4097) }],
      'keys[0].private_key',
    ],
    ['a key twice', ({ body }) => [body, { ...body, flags: 256 }], 'keys[1].private_key'],
    ['three keys', ({ body }) => [body, made(256).body, made(256).body], 'keys'],
  ])('are refused with their index, and the response does not contain them: %s', async (_, keys, field) => {
    const key = made();
    const { status, body } = await importKeys(keys(key));
    expect([status, body]).toMatchObject([400, { code: 'validation_failed', fields: [{ field }] }]);
    expect(JSON.stringify(body)).not.toContain(key.secretText);
    expect(await read()).toMatchObject({ status: 'off', keys: [] });
  });

  it('are refused if a DS of other keys is at the parent or was requested, or if no key can be exported', async () => {
    expect(await exportKeys()).toMatchObject(refusal(400, 'wrong_state'));
    const key = made();
    await enable();
    expect((await importKeys([key.body])).status).toBe(200);
    await goOn(2);
    expect((await read()).dnskey).toMatchObject([{ key_tag: key.tag }]);
    expect(await exportKeys({ key_id: 999_999_999 })).toMatchObject(refusal(400, 'wrong_state'));
    await goOn(24 * 12);
    expect((await read()).status).toBe('ds_wanted');
    expect(await importKeys([made().body], 'owner', { replace: true })).toMatchObject({
      status: 409,
      body: { code: 'dnssec_busy', error: expect.stringContaining(`the key with tag ${key.tag}`) },
    });
  });

  it('are not changed by the same import again, in any order', async () => {
    const [ksk, zsk] = [made(), made(256)];
    const { body } = await importKeys([ksk.body, zsk.body]);
    const again = await importKeys([zsk.body, ksk.body]);
    expect([again.status, again.body]).toEqual([200, body]);
    expect(again.headers['x-change-id']).toBeUndefined();
  });

  it('replace others that were imported only on request, and never a key with a DS', async () => {
    const [first, second] = [made(), made()];
    const replace = (key = second) => importKeys([key.body], 'owner', { replace: true });
    const served = async () => {
      await goOn(2);
      return (await read()).dnskey.map(({ key_tag }: { key_tag: number }) => key_tag);
    };
    await importKeys([first.body]);
    expect(await importKeys([second.body])).toMatchObject({
      status: 409,
      body: { code: 'dnssec_imported', error: expect.stringMatching(`tag ${first.tag},.* set "replace"`) },
    });
    expect(await replace()).toMatchObject({
      status: 409,
      body: { code: 'dnssec_busy', error: expect.stringContaining('not yet known') },
    });
    expect(await served()).toEqual([first.tag]);
    expect((await replace()).status).toBe(200);
    expect(await served()).toEqual([second.tag]);
    // The first one was valid.
    expect(await importKeys([first.body])).toMatchObject(refusal(409, 'dnssec_imported'));
    expect((await replace(first)).status).toBe(200);
    expect(await served()).toEqual([first.tag]);
    expect((await read()).keys).toHaveLength(2);
    await goOn(1, ({ keys, wanted }) => keys.find(({ id }) => id === wanted?.sep)?.ds.slice(1, 2) ?? []);
    expect(await replace()).toMatchObject(refusal(409, 'dnssec_busy'));
  });
});
