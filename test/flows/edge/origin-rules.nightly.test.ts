// Rules that say which origin is asked, how, and what is kept of its answers, from the API call to the visitor's answer.
// They act also in a dry run.

import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { updateDomain } from '../../../src/store/change/update-domain.ts';
import { BY } from '../../support/database/domains.ts';
import { EdgeFleet, HOST } from '../../support/edge/edge-fleet.ts';
import { FlowRule, showSteadyRule } from '../../support/edge/show-rule.ts';
import { freePort } from '../../support/processes/free-port.ts';

let fleet: EdgeFleet;
beforeAll(async () => {
  fleet = await EdgeFleet.start();
});
afterAll(() => fleet?.stop());
afterEach(() => {
  for (const origin of [fleet?.own, fleet?.other, fleet?.tls]) origin?.says(undefined);
});

it('rewrite: the origin is asked for another path and query', async () => {
  const fields = { path_match_type: 'regex', path_includes: ['^/p(.)ge$'], path_target: '/new/$1' };
  const changed = { status: 200, json: { url: '/new/a?a=1' } };
  const unchanged = { json: { url: '/page?a=1' } };
  const rule = await showSteadyRule(fleet, 'rewrite', fields, { changed, unchanged });
  await rule.update({ query_mode: 'replace', query_target: 'b=2' });
  expect((await fleet.visit()).json.url).toBe('/new/a?b=2');
  await rule.update({ query_mode: 'strip' });
  expect((await fleet.visit()).json.url).toBe('/new/a');
  await rule.delete();
});

it('cache: an answer is kept for its time, by query and headers, and not in developer mode', async () => {
  let count = 0;
  fleet.own.says(() => ({ body: String(++count) }));
  const ask = async (query = '', headers: Record<string, string> = {}) =>
    (await fleet.visit({ headers }, `http://${HOST}/c${query}`)).text;
  const rule = await FlowRule.create(fleet, 'cache', {
    ttl_seconds: 60,
    browser_ttl_seconds: 5,
    action_mode: 'dry_run',
  });
  expect([await ask(), await ask(), await ask('?x=1')]).toEqual(['1', '1', '2']);
  expect((await fleet.visit({}, `http://${HOST}/c`)).headers['cache-control']).toBe('max-age=5');
  fleet.proxy.pass(61);
  expect([await ask(), await ask()]).toEqual(['3', '3']);
  await rule.update({ key_query: 'none', key_headers: ['x-kind'] });
  expect([await ask(), await ask('?x=2'), await ask('', { 'x-kind': 'k' })]).toEqual(['4', '4', '5']);
  const developerModeUntil = new Date(Date.now() + 3_600_000);
  await updateDomain(fleet.database.db, {
    ...BY,
    domainId: fleet.domainId,
    set: { developerModeUntil },
    exempt: true,
  });
  await fleet.caughtUp();
  expect([await ask(), await ask()]).toEqual(['6', '7']);
  fleet.proxy.pass(3_601);
  expect([await ask(), await ask()]).toEqual(['8', '8']);
  await rule.update({ bypass: true });
  expect([await ask(), await ask()]).toEqual(['9', '10']);
  await rule.update({ bypass: false, respect_origin: true });
  fleet.own.says(() => ({ headers: { 'cache-control': 'private' }, body: String(++count) }));
  fleet.proxy.pass(61);
  expect([await ask(), await ask()]).toEqual(['11', '12']);
  await rule.update({ respect_origin: false });
  expect([await ask(), await ask()]).toEqual(['13', '13']);
  await rule.toggle();
  expect([await ask(), await ask()]).toEqual(['14', '15']);
  await rule.delete();
});

it('origin_route: another origin is asked, by another host name', async () => {
  const { address: destination, port } = fleet.other;
  const fields = { destination, port, scheme: 'http', host_header: 'inner.example' };
  const changed = { json: { name: 'other', headers: { host: 'inner.example' } } };
  const rule = await showSteadyRule(fleet, 'origin_route', fields, { changed });
  await rule.delete();
});

it('origin_pool: origins take turns by weight; a dead one is left out until it is well again', async () => {
  const member = ({ address: host, port }: { address: string; port: number }, more: object = {}) => ({
    host,
    port,
    scheme: 'http',
    ...more,
  });
  const names = async (count: number) => {
    const found = [];
    for (let i = 0; i < count; i++) found.push((await fleet.visit()).json?.name);
    return found;
  };
  const both = [member(fleet.own, { weight: 2 }), member(fleet.other)];
  const rule = await FlowRule.create(fleet, 'origin_pool', { origins: both });
  expect((await names(6)).sort()).toEqual(['other', 'other', 'own', 'own', 'own', 'own']);
  await rule.update({ method: 'hash' });
  expect(new Set(await names(5)).size).toBe(1);
  await rule.update({ method: 'least_time' });
  expect(await names(2)).toEqual([expect.any(String), expect.any(String)]);
  const dead = member({ address: fleet.own.address, port: await freePort() });
  const backup = member(fleet.tls, { scheme: 'https', backup: true });
  await rule.update({
    method: 'round_robin',
    origins: [dead, member(fleet.other), backup],
    health: { path: '/up', status: 204, interval_seconds: 5 },
  });
  fleet.other.says(({ url }) =>
    url === '/up' ? { status: 204 } : { status: 200, body: '{"name":"other"}' },
  );
  const check = async () => {
    fleet.proxy.pass(6);
    await fleet.proxy.checkPools();
  };
  await check();
  expect((await fleet.visit()).text).toBe('{"name":"other"}');
  fleet.tls.says(({ url }) => (url === '/up' ? { status: 204 } : { body: 'from the backup' }));
  fleet.other.says(() => ({ status: 500 }));
  await check();
  expect((await fleet.visit()).text).toBe('from the backup');
  fleet.other.says(({ url }) => (url === '/up' ? { status: 204 } : { body: 'well again' }));
  await check();
  expect((await fleet.visit()).text).toBe('well again');
  await rule.toggle();
  expect(await names(2)).toEqual(['own', 'own']);
  await rule.delete();
});

it('error_page: the page stands in the place of an answer that failed', async () => {
  fleet.own.says(() => ({ status: 503, body: 'trace' }));
  const html = '<h1>Back soon</h1>\n';
  const changed = { status: 503, text: html, headers: { 'content-type': 'text/html; charset=utf-8' } };
  const unchanged = { status: 503, text: 'trace' };
  const fields = { status_codes: [503], html };
  const rule = await showSteadyRule(fleet, 'error_page', fields, { changed, unchanged });
  await rule.update({ status_codes: [502, 504], html: '{"sorry":true}', content_type: 'application/json' });
  expect(await fleet.visit()).toMatchObject(unchanged);
  await fleet.change('PUT', `/records/${fleet.record.id}`, { port: await freePort() });
  expect(await fleet.visit()).toMatchObject({ status: 502, json: { sorry: true } });
  await fleet.change('PUT', `/records/${fleet.record.id}`, { port: fleet.own.port });
  await rule.delete();
});
