// A purge from the call of the owner to what visitors get, through the test proxy, also after the edge or the API was away.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { DOMAIN, EdgeFleet, HOST } from '../../support/edge/edge-fleet.ts';
import { FlowRule } from '../../support/edge/show-rule.ts';
import { until } from '../../support/tests/until.ts';

let fleet: EdgeFleet;
let count = 0;
beforeAll(async () => {
  fleet = await EdgeFleet.start();
  fleet.own.says(() => ({ body: String(++count) }));
  await FlowRule.create(fleet, 'cache', { ttl_seconds: 600 });
});
afterAll(() => fleet?.stop());

const get = async (path: string) => (await fleet.visit({}, `http://${HOST}${path}`)).text;

async function purge(body?: object): Promise<void> {
  const ordered = await fleet.ask('DELETE', `/domains/${DOMAIN}/cache/`, body);
  expect([ordered.status, ordered.body.purge?.edges]).toEqual([200, 1]);
  await finished(ordered.body.purge.id);
}

async function finished(id: number): Promise<void> {
  await until(
    async () => (await fleet.ask('GET', `/domains/${DOMAIN}/cache/purges/${id}`)).body.finished === true,
    'the edge has done the purge',
  );
}

/** Which of the paths are asked from the origin again, when this is purged. */
async function renewed(paths: readonly string[], body?: object): Promise<string[]> {
  const before = await Promise.all(paths.map(get));
  expect(await Promise.all(paths.map(get))).toEqual(before);
  await purge(body);
  const after = await Promise.all(paths.map(get));
  return paths.filter((_, at) => after[at] !== before[at]);
}

const PATHS = ['/a', '/a?x=1', '/a/b', '/c'];

it('takes away one URL, a prefix, a host, and everything', async () => {
  const url = (path: string) => `https://${HOST}${path}`;
  expect(await renewed(PATHS, { url: url('/a?x=1') })).toEqual(['/a?x=1']);
  expect(await renewed(PATHS, { prefix: url('/a') })).toEqual(['/a', '/a?x=1', '/a/b']);
  expect(await renewed(PATHS, { host: DOMAIN })).toEqual([]);
  expect(await renewed(PATHS, { host: `*.${DOMAIN}` })).toEqual(PATHS);
  expect(await renewed(PATHS, { host: HOST })).toEqual(PATHS);
  expect(await renewed(PATHS)).toEqual(PATHS);
});

it('is done by the edge that heard nothing of it because the API went away', async () => {
  const before = await get('/away');
  expect(await get('/away')).toBe(before);
  await fleet.api.stop();
  expect(await get('/away')).toBe(before); // the edge goes on
  await fleet.restartApi();
  await purge();
  expect(await get('/away')).not.toBe(before);
});
