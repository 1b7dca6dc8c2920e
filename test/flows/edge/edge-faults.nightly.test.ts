// What goes wrong between the API and an edge, and origins that lead to where nobody may.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { listEdges, revokeEdge } from '../../../src/store/edges/edges.ts';
import { DOMAIN, EdgeFleet, HOST } from '../../support/edge/edge-fleet.ts';
import { startOrigin, type TestOrigin } from '../../support/edge/origin/test-origin.ts';
import { until } from '../../support/tests/until.ts';

const names = new Map<string, string[]>();
let fleet: EdgeFleet;
let hidden: TestOrigin;
beforeAll(async () => {
  fleet = await EdgeFleet.start({
    resolve(name) {
      const addresses = names.get(name) ?? [];
      return Promise.resolve([(addresses.length > 1 ? addresses.shift() : addresses[0]) ?? []].flat());
    },
  });
  hidden = await startOrigin('hidden', '127.0.0.1', undefined, fleet.own.port);
});
afterAll(() => Promise.all([fleet?.stop(), hidden?.stop()]));

const setRecord = (fields: object, id: number) => fleet.change('PUT', `/records/${id}`, fields);

it.each([
  '127.0.0.1',
  '::ffff:10.0.0.1',
  '169.254.169.254',
  '::ffff:7f00:1',
  'fd00::1',
])('an origin’s name that leads to %s is not asked: 502', async (address) => {
  names.set('origin.example', [address]);
  const { id } = await fleet.change('POST', '/records/', {
    name: 'named',
    type: 'CNAME',
    destination: 'origin.example.',
    proxied: true,
    port: fleet.own.port,
    scheme: 'Http',
  });
  expect((await fleet.visit({}, `http://named.${DOMAIN}/`)).status).toBe(502);
  expect(fleet.proxy.seen.at(-1)?.reason).toBe('origin_refused');
  expect(hidden.received).toEqual([]);
  await fleet.change('DELETE', `/records/${id}`);
});

it.each([
  '127.0.0.1',
  '10.0.0.1',
  '169.254.169.254',
  '198.51.100.10',
])('a proxied record whose origin is %s is refused by the API already: private, or an edge of ours', async (destination) => {
  const body = { name: 'inner', type: 'A', destination, proxied: true };
  const { status } = await fleet.ask('POST', `/domains/${DOMAIN}/records/`, body);
  expect(status).toBe(400);
});

it('a name that leads elsewhere at the second look-up is asked where it was judged; then it is refused', async () => {
  names.set('moving.example', [fleet.own.address, '127.0.0.1']);
  const { id } = await fleet.change('POST', '/records/', {
    name: 'moving',
    type: 'CNAME',
    destination: 'moving.example.',
    proxied: true,
    port: fleet.own.port,
    scheme: 'Http',
  });
  const ask = () => fleet.visit({}, `http://moving.${DOMAIN}/`);
  expect((await ask()).json.name).toBe('own');
  expect(fleet.proxy.seen.at(-1)?.origin).toBe(fleet.own.address);
  expect((await ask()).status).toBe(502);
  expect(hidden.received).toEqual([]);
  await fleet.change('DELETE', `/records/${id}`);
});

it('an origin that redirects to an inner address is not followed', async () => {
  const location = `http://127.0.0.1:${hidden.port}/`;
  fleet.own.says(() => ({ status: 302, headers: { location } }));
  expect(await fleet.visit()).toMatchObject({ status: 302, headers: { location } });
  expect(hidden.received).toEqual([]);
  fleet.own.says(undefined);
});

it('a stream that breaks goes on from its cursor, without another snapshot', async () => {
  const { configs } = fleet.proxy;
  const { snapshots } = configs;
  const streams = fleet.edge.streams;
  fleet.edge.breakStream();
  await until(() => fleet.edge.streams > streams, 'another stream');
  await setRecord({ host_header: 'again.example' }, fleet.record.id);
  expect((await fleet.visit()).json.headers.host).toBe('again.example');
  expect(configs.snapshots).toBe(snapshots);
  expect(configs.garbage).toBe(0);
});

it('with the API gone the proxy goes on with what it has, and converges when it is back', async () => {
  await fleet.api.stop('SIGKILL');
  await until(() => !fleet.edge.isStreaming, 'the stream has broken');
  expect((await fleet.visit()).json.headers.host).toBe('again.example');
  await fleet.database.db
    .updateTable('records')
    .set({ host_header: 'later.example' })
    .where('id', '=', fleet.record.id)
    .execute();
  expect((await fleet.visit()).json.headers.host).toBe('again.example');
  await fleet.restartApi();
  await fleet.caughtUp();
  expect((await fleet.visit()).json.headers.host).toBe('later.example');
});

it('lines that are garbage change nothing; the edge goes on', async () => {
  const { configs } = fleet.proxy;
  const { garbage } = configs;
  for (const text of [
    '{',
    'null',
    '{"cursor":7}',
    `{"cursor":"x","domain":"${DOMAIN}","version":9e9,"config":{}}`,
  ]) {
    configs.applyText(text);
  }
  expect(configs.garbage).toBe(garbage + 4);
  expect((await fleet.visit()).status).toBe(200);
});

it('the edge says by itself that it is there', async () => {
  const seen = async () => {
    const edge = await fleet.database.db.selectFrom('edges').select('seen_at').executeTakeFirstOrThrow();
    return edge.seen_at !== null;
  };
  await until(seen, 'the first report');
});

it('the edge says how it is, and which rules it cannot obey; garbage of it is refused', async () => {
  const { status, body } = await fleet.edge.report(fleet.proxy.configs, [
    { rule_id: 7, why: 'no such engine' },
  ]);
  expect([status, body]).toEqual([200, { name: 'edge1', region: 'eu', drained: false }]);
  const [stored] = await listEdges(fleet.database.db);
  expect(stored).toMatchObject({
    software: 'test proxy',
    unsupported: [{ rule_id: 7, why: 'no such engine' }],
    configCursor: fleet.proxy.configs.cursor,
  });
  for (const wrong of [
    null,
    [],
    { load: -1, version: 'x' },
    { load: 1 },
    { load: 1, version: 'x', addresses: [] },
  ]) {
    expect((await fleet.edge.ask('POST', '/edge/v1/health', wrong)).status).toBe(400);
  }
});

it('a token that is revoked ends the stream and opens nothing more; what the edge has it goes on with', async () => {
  await revokeEdge(fleet.database.db, 'edge1');
  await until(() => fleet.edge.streamStatus === 401, 'the token counts no more');
  expect((await fleet.edge.ask('GET', '/edge/v1/certificates/1')).status).toBe(401);
  expect((await fleet.visit({}, `http://${HOST}/`)).status).toBe(200);
});
