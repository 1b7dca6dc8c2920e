// What a domain's owner reads of DNSSEC at each stage, what may be asked for, and what is refused.

import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { advance, written } from '../../../src/checks/dnssec/advance.ts';
import type { Machine } from '../../../src/checks/dnssec/machine.ts';
import { RULES } from '../../../src/checks/dnssec/rules.ts';
import { dsOfKey } from '../../../src/checks/dnssec/told/parent-view.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import { loadDnssec } from '../../../src/store/dnssec/load-dnssec.ts';
import { loadServing } from '../../../src/store/dnssec/nodes-serving.ts';
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

async function ask(method: 'GET' | 'POST' | 'PUT', end = '', body?: object) {
  return await api.ask(
    method,
    `/domains/${name}/dnssec${end}`,
    body === undefined ? {} : { body: JSON.stringify(body) },
  );
}

async function machineOf(): Promise<Machine> {
  return (await loadDnssec(api.database.db, domainId))?.machine as Machine;
}

/** Simulates this many hours of a fleet without failures, with a parent that shows these DS records. */
async function goOn(hours: number, shown: (machine: Machine) => readonly string[] = () => []): Promise<void> {
  let machine = await machineOf();
  let version = machine.version ?? 1;
  const { epoch } = await loadServing(api.database.db, null);
  const start = machine.clock;
  for (let hour = 1; hour <= hours; hour++) {
    const at = start + hour * HOUR;
    const node = { id: 'n', version, heardAt: at, isGone: false };
    const ds = shown(machine);
    const { machine: next, step } = advance(
      machine,
      {
        at,
        epoch,
        nodes: [node],
        dataTtl: 300,
        delegation: { kind: 'ours', since: 0, ttl: 3600, isFirst: true },
        ds: dsEvidence([ds, ds], 3600, at),
        preflight: { at, verifiedBy: machine.serving.keySigners, hasStrangers: false },
      },
      RULES,
    );
    machine = step === undefined ? next : written(next, ++version);
  }
  await sql`update signed_zones set machine = ${JSON.stringify(machine)} where domain_id = ${domainId}`.execute(
    api.database.db,
  );
}

const askedDs = ({ asked, keys }: Machine) =>
  keys.filter(({ id }) => asked.includes(id)).flatMap((key) => dsOfKey(key, 2) ?? []);

describe('a domain', () => {
  it('is unsigned until its owner enables DNSSEC', async () => {
    const before = await ask('GET');
    expect(before.status).toBe(200);
    expect(before.body).toMatchObject({ status: 'off', goal: 'unsigned', keys: [], ds: [] });
    const enabled = await ask('POST', '/enable', {});
    expect(enabled.status).toBe(200);
    expect(enabled.body).toMatchObject({
      status: 'signing',
      goal: 'signed',
      denial: 'nsec',
      algorithm: { number: 13, name: 'ECDSAP256SHA256' },
      ds: [],
      registrar: { action: 'wait', add: [], remove: [] },
      keys: [{ role: 'csk', state: 'made', ds: 'none', origin: 'ours' }],
    });
    expect(Number(enabled.headers['x-change-id'])).toBeGreaterThan(0);
    expect((await ask('GET')).body).toEqual(enabled.body);
  });

  it('contains the DNSSEC status, alone and in lists', async () => {
    const status = async () => (await api.ask('GET', `/domains/${name}`)).body.dnssec;
    const listed = async () => (await api.ask('GET', `/domains/?search=${name}`)).body[0].dnssec;
    expect([await status(), await listed()]).toEqual([{ status: 'off' }, { status: 'off' }]);
    await ask('POST', '/enable', {});
    expect([await status(), await listed()]).toEqual([{ status: 'signing' }, { status: 'signing' }]);
    const body = JSON.stringify({ ...(await api.ask('GET', `/domains/${name}`)).body, outage_alerts: true });
    expect((await api.ask('PUT', `/domains/${name}`, { body })).status).toBe(200);
    await ask('POST', '/abort');
    expect([await status(), await listed()]).toEqual([{ status: 'off' }, { status: 'off' }]);
  });

  it('with two keys can roll one of them', async () => {
    await ask('POST', '/enable', { split: true });
    await goOn(24 * 12, askedDs);
    const secure = (await ask('GET')).body;
    expect(secure).toMatchObject({ status: 'secure', keys: [{ role: 'ksk' }, { role: 'zsk' }] });
    const [ksk, zsk] = secure.keys;
    const rolled = await ask('POST', '/rollover', { key_id: zsk.id });
    expect(rolled.body.keys.map(({ role }: { role: string }) => role)).toEqual(['ksk', 'zsk', 'zsk']);
    await goOn(24 * 12, askedDs);
    const after = (await ask('GET')).body;
    expect(after).toMatchObject({
      status: 'secure',
      ds: secure.ds,
      keys: [
        { id: ksk.id, state: 'signing' },
        { id: zsk.id, state: 'withdrawn' },
        { role: 'zsk', state: 'signing', ds: 'none' },
      ],
    });
    expect(await ask('POST', '/rollover', { key_id: zsk.id })).toMatchObject({
      status: 400,
      body: { code: 'wrong_state' },
    });
  });

  it('returns the DS to enter when resolvers are ready for it, and then the state of the parent', async () => {
    await ask('POST', '/enable', {});
    await goOn(24 * 12);
    const wanted = (await ask('GET')).body;
    expect(wanted).toMatchObject({ status: 'ds_wanted', registrar: { action: 'add' } });
    expect(wanted.ds.map((each: { digest_type: number }) => each.digest_type)).toEqual([2, 4]);
    expect(wanted.registrar.add).toEqual([wanted.ds[0]]);
    expect(wanted.ds[0]).toMatchObject({ cds: true, key_tag: wanted.keys[0].key_tag });
    expect(wanted.dnskey).toMatchObject([{ flags: 257, protocol: 3, algorithm: 13 }]);
    expect(wanted.findings).toMatchObject([{ code: 'DS_WANTED', severity: 'info' }]);

    await goOn(24 * 2, askedDs);
    const secure = (await ask('GET')).body;
    expect(secure).toMatchObject({
      status: 'secure',
      registrar: { action: 'none' },
      keys: [{ state: 'signing', ds: 'seen' }],
      at_parent: { addresses: 2, agreeing: 2, ttl: 3600, ds: [{ ours: true, key_id: secure.keys[0].id }] },
      leaving: { wait_seconds: 3600 },
      findings: [],
    });
  });

  it('keeps the old key in a rollover until its DS is gone', async () => {
    await ask('POST', '/enable', {});
    await goOn(24 * 12, askedDs);
    expect((await ask('POST', '/rollover', { algorithm: 8 })).status).toBe(400);
    const rolled = await ask('POST', '/rollover', { reason: 'planned', algorithm: 15 });
    expect(rolled.status).toBe(200);
    expect(rolled.body.algorithm).toEqual({ number: 15, name: 'ED25519' });
    expect(rolled.body.keys).toHaveLength(2);
    expect(await ask('POST', '/rollover', {})).toMatchObject({ status: 409, body: { code: 'dnssec_busy' } });
    await goOn(24 * 3, askedDs);
    expect((await ask('GET')).body).toMatchObject({
      status: 'rolling',
      keys: [
        { state: 'retiring', ds: 'none', algorithm: 13 },
        { state: 'signing', ds: 'seen', algorithm: 15 },
      ],
    });
    const aborted = await ask('POST', '/abort');
    expect(aborted.status).toBe(200);
    expect(aborted.body.algorithm.number).toBe(13);
    await goOn(24 * 3);
    expect((await ask('GET')).body.keys).toMatchObject([{ state: 'signing' }, { state: 'retiring' }]);
  });

  it('changes the denial of existence without the registrar, and back', async () => {
    await ask('POST', '/enable', {});
    await goOn(24 * 12, askedDs);
    const changed = await ask('PUT', '', { denial: 'nsec3' });
    expect(changed).toMatchObject({ status: 200, body: { status: 'secure', denial: 'nsec3' } });
    expect(Number(changed.headers['x-change-id'])).toBeGreaterThan(0);
    expect(changed.body.next_denial).toBeUndefined();
    const same = await ask('PUT', '', { denial: 'nsec3' });
    expect(same.body).toEqual(changed.body);
    expect(same.headers['x-change-id']).toBeUndefined();
    // Workers write the records of a large zone first.
    await sql`update signed_zones set denial_change = 'adding' where domain_id = ${domainId}`.execute(
      api.database.db,
    );
    expect((await ask('GET')).body).toMatchObject({ denial: 'nsec3', next_denial: 'nsec' });
    expect((await ask('PUT', '', { denial: 'nsec' })).headers['x-change-id']).toBeUndefined();
    const back = await ask('PUT', '', { denial: 'nsec3' });
    expect(Number(back.headers['x-change-id'])).toBeGreaterThan(0);
    expect(back.body).toEqual(changed.body);
  });

  it('keeps its signatures after disable, while the parent shows a DS', async () => {
    await ask('POST', '/enable', {});
    await goOn(24 * 12, askedDs);
    const { machine } = (await loadDnssec(api.database.db, domainId)) as { machine: Machine };
    const ds = askedDs(machine);
    await ask('POST', '/disable');
    await goOn(24 * 12, () => ds);
    const { body } = await ask('GET');
    expect(body).toMatchObject({
      status: 'ds_removal',
      goal: 'unsigned',
      ds: [],
      registrar: { action: 'remove', remove: ds },
    });
  });
});

describe('a request is refused', () => {
  it.each([
    [{ denial: 'nsec5' }, 'denial'],
    [{ algorithm: 8 }, 'algorithm'],
    [{ split: 'yes' }, 'split'],
  ])('with the wrong body %j', async (body, field) => {
    const { status, body: answer } = await ask('POST', '/enable', body);
    expect(status).toBe(400);
    expect(answer).toMatchObject({ code: 'validation_failed', fields: [{ field }] });
  });

  it('to change the denial of a domain that is not signed, being signed, or served by an old nameserver', async () => {
    const { db } = api.database;
    expect(await ask('PUT', '', {})).toMatchObject({ status: 400, body: { code: 'validation_failed' } });
    const denial = 'nsec3';
    expect(await ask('PUT', '', { denial })).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
    await ask('POST', '/enable', {});
    await sql`update signed_zones set phase = 'signing' where domain_id = ${domainId}`.execute(db);
    expect(await ask('PUT', '', { denial })).toMatchObject({ status: 409, body: { code: 'dnssec_busy' } });
    await sql`update signed_zones set phase = 'waiting' where domain_id = ${domainId}`.execute(db);
    await sql`insert into nodes (name, instance, started_at) values ('old', gen_random_uuid(), now())`.execute(
      db,
    );
    expect(await ask('PUT', '', { denial })).toMatchObject({
      status: 503,
      body: { code: 'dnssec_unavailable' },
    });
    await sql`delete from nodes where name = 'old'`.execute(db);
  });

  it('to change signing options while the domain is being signed', async () => {
    await ask('POST', '/enable', { denial: 'nsec' });
    await goOn(2);
    expect(await ask('POST', '/enable', { denial: 'nsec3' })).toMatchObject({
      status: 409,
      body: { code: 'dnssec_busy' },
    });
  });

  it('to roll or abort if the domain is not signed', async () => {
    for (const end of ['/rollover', '/abort'])
      expect(await ask('POST', end, end === '/abort' ? undefined : {})).toMatchObject({
        status: 400,
        body: { code: 'wrong_state' },
      });
  });

  it('to sign an external or disabled domain', async () => {
    name = `elsewhere-${domains}.test`;
    await api.makeDomain(name, { dnsMode: 'external' });
    expect(await ask('POST', '/enable', {})).toMatchObject({ status: 400, body: { code: 'wrong_state' } });
    name = `off-${domains}.test`;
    const { id } = await api.makeDomain(name);
    await changeStatus(api.database.db, {
      domainId: id,
      event: 'disable',
      by: { kind: 'cli' },
      source: 'test',
    });
    expect((await ask('POST', '/enable', {})).status).toBe(409);
  });

  it('to sign while a nameserver would answer without proofs', async () => {
    await sql`
      insert into nodes (name, instance, started_at) values ('old', gen_random_uuid(), now())`.execute(
      api.database.db,
    );
    const answer = await ask('POST', '/enable', {});
    expect(answer).toMatchObject({ status: 503, body: { code: 'dnssec_unavailable' } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
    expect(answer.body.error).toContain('old');
    await sql`delete from nodes where name = 'old'`.execute(api.database.db);
  });
});
