// Proxied records and the settings of their domain, from the API call to what a visitor gets.

import { once } from 'node:events';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { openWebsocket } from '../../support/edge/ask-edge.ts';
import { DOMAIN, EdgeFleet, HOST } from '../../support/edge/edge-fleet.ts';
import { freePort } from '../../support/processes/free-port.ts';

let fleet: EdgeFleet;
beforeAll(async () => {
  fleet = await EdgeFleet.start();
});
afterAll(() => fleet?.stop());
afterEach(() => fleet?.own.says(undefined));

const setRecord = (fields: object, id = fleet.record.id) => fleet.change('PUT', `/records/${id}`, fields);
const set = (fields: object) => fleet.change('PUT', '', fields);
const statusAt = async (host: string, path = '/') =>
  (await fleet.visit({}, `http://${host}.${DOMAIN}${path}`)).status;

it('a record’s scheme, port, host header and address say how the origin is asked', async () => {
  expect((await fleet.visit()).json).toMatchObject({ scheme: 'http', headers: { host: HOST } });
  const { address: destination, port } = fleet.tls;
  await setRecord({ destination, port, scheme: 'Https', host_header: 'origin.example' });
  const asked = { name: 'tls', scheme: 'https', sni: 'origin.example', headers: { host: 'origin.example' } };
  expect((await fleet.visit()).json).toMatchObject(asked);
  await setRecord({ scheme: 'Auto', host_header: '' });
  expect((await fleet.visit()).json).toMatchObject({ scheme: 'https', headers: { host: HOST } });
  await setRecord({ destination: fleet.own.address, port: fleet.own.port });
  expect((await fleet.visit()).json).toMatchObject({ name: 'own', scheme: 'http' });
  await setRecord({ scheme: 'Default' });
  expect((await fleet.visit()).json).toMatchObject({ name: 'own', scheme: 'http' });
});

it('an origin that keeps silent for longer than the record’s timeout is a 504, one that is not there a 502', async () => {
  fleet.own.says('never');
  await setRecord({ timeout: 1 });
  expect((await fleet.visit()).status).toBe(504);
  expect(fleet.proxy.seen.at(-1)?.reason).toBe('origin_timeout');
  // Of two that wait, the one with the shorter timeout ends first, though it began last.
  const patient = await fleet.addRecord('patient', fleet.own);
  await setRecord({ timeout: 3 }, patient.id);
  const ended: string[] = [];
  const wait = async (host: string) => ended.push(`${host} ${await statusAt(host)}`);
  await Promise.all([wait('patient'), wait('www')]);
  expect(ended).toEqual(['www 504', 'patient 504']);
  await fleet.change('DELETE', `/records/${patient.id}`);
  await setRecord({ port: await freePort(), timeout: 15 });
  expect((await fleet.visit()).status).toBe(502);
  expect(fleet.proxy.seen.at(-1)?.reason).toBe('origin_unreachable');
  await setRecord({ port: fleet.own.port });
});

it('several records of one name are origins that take turns', async () => {
  const { id } = await fleet.addRecord('www', fleet.other);
  const names = [];
  for (let i = 0; i < 4; i++) names.push((await fleet.visit()).json.name);
  expect(names.sort()).toEqual(['other', 'other', 'own', 'own']);
  await fleet.change('DELETE', `/records/${id}`);
  expect((await fleet.visit()).json.name).toBe('own');
});

it('a proxied wildcard serves every name without a record of its own, until it is deleted or no longer proxied', async () => {
  expect(await statusAt('any')).toBe(421);
  const { id } = await fleet.addRecord('*', fleet.other);
  const at = async (host: string) => (await fleet.visit({}, `http://${host}.${DOMAIN}/`)).json.name;
  expect([await at('any'), await at('a.b'), await at('www')]).toEqual(['other', 'other', 'own']);
  const inner = await fleet.addRecord('*.b', fleet.own);
  expect([await at('any'), await at('a.b')]).toEqual(['other', 'own']);
  await fleet.change('DELETE', `/records/${inner.id}`);
  await setRecord({ proxied: false }, id);
  expect([await statusAt('any'), await statusAt('www')]).toEqual([421, 200]);
  await fleet.change('DELETE', `/records/${id}`);
});

it('security headers are sent, and what tells of the origin is taken away, as the domain is set', async () => {
  fleet.own.says(() => ({ headers: { server: 'nginx/1', 'x-powered-by': 'PHP/5' }, body: 'x' }));
  const told = { server: 'nginx/1', 'x-powered-by': 'PHP/5' };
  expect((await fleet.visit()).headers).toMatchObject(told);
  await set({ sec_no_sniff: true, sec_referrer_policy: true, sec_strip_headers: true });
  const { headers } = await fleet.visit();
  expect(headers).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'strict-origin-when-cross-origin',
  });
  expect(Object.keys(headers)).not.toEqual(expect.arrayContaining(['server']));
  expect(headers['x-powered-by']).toBeUndefined();
  await set({ sec_no_sniff: false, sec_referrer_policy: false, sec_strip_headers: false });
  const after = (await fleet.visit()).headers;
  expect(after).toMatchObject(told);
  expect(after['x-content-type-options']).toBeUndefined();
});

it('websockets pass as the plan says', async () => {
  const url = `http://${HOST}/socket`;
  const socket = await openWebsocket(fleet.proxy, url);
  if (typeof socket === 'number') throw new Error(`refused: ${socket}`);
  socket.write('hello');
  expect(String((await once(socket, 'data'))[0])).toBe('hello');
  socket.destroy();
  await fleet.override({ ws_enabled: false });
  expect(await openWebsocket(fleet.proxy, url)).toBe(403);
  await fleet.override({ ws_enabled: true });
});

it('a host whose last proxied record is deleted is served no more', async () => {
  const { id } = await fleet.addRecord('gone', fleet.other);
  expect(await statusAt('gone')).toBe(200);
  await fleet.change('DELETE', `/records/${id}`);
  expect(await statusAt('gone')).toBe(421);
});

it('a domain that other regions serve is not served here', async () => {
  const serve = async (regions: string[] | null) => {
    await setServedRegions(fleet.database.db, fleet.domainId, regions);
    await fleet.caughtUp();
  };
  await serve(['us']);
  expect(await statusAt('www')).toBe(421);
  await serve(['us', 'eu']);
  expect(await statusAt('www')).toBe(200);
  await serve(null);
  expect(await statusAt('www')).toBe(200);
});

it('a domain that is disabled is served no more, and again when it is enabled', async () => {
  await fleet.move('disable');
  expect(await statusAt('www')).toBe(421);
  await fleet.move('enable');
  expect(await statusAt('www')).toBe(200);
});
