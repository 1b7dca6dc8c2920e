import { beforeAll, describe, expect, it } from 'vitest';
import { encodeEdgeCursor } from '../../../src/store/edges/edge-cursor.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { drainEdge, listEdges, revokeEdge, rotateEdgeToken } from '../../../src/store/edges/edges.ts';
import { ownApi } from '../../support/api/api.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { sealCertificate } from '../../support/edge/sealed-certificate.ts';

const api = ownApi(() => startEdgeApi());
let token: string;
beforeAll(async () => {
  token = await api.makeEdge('paris');
});

const HEALTH = { load: 0.25, version: 'proxy 1.2' };
const report = (body: unknown, as = token) => api.ask('POST', '/edge/v1/health', { as, body });

describe('the credentials of edges', () => {
  it.each([
    'GET /edge/v1/config',
    'POST /edge/v1/health',
    'POST /edge/v1/cache',
    'GET /edge/v1/certificates/1',
    'GET /edge/v1/other',
    'PUT /edge/v1/',
  ])('are required by %s', async (call) => {
    const [method, path] = call.split(' ') as [string, string];
    for (const as of [null, 'operator', 'edge_short', `edge_${'a'.repeat(43)}`, `ses_${'a'.repeat(43)}`])
      expect([as, (await api.ask(method, path, { as })).status]).toEqual([as, 401]);
  });

  it('are not valid elsewhere, as an API key, or in addition to another key', async () => {
    const paths = ['/whoami', '/domains/', '/admin/nodes', '/vantage/v1/jobs', '/nothing', '/edge/v2/config'];
    for (const path of paths)
      expect([path, (await api.ask('GET', path, { as: token })).status]).toEqual([path, 401]);
    for (const [as, key] of [
      [null, token],
      [token, api.keys.owner],
    ] as const) {
      const sent = { as, headers: { 'x-api-key': key }, body: HEALTH };
      expect((await api.ask('POST', '/edge/v1/health', sent)).status).toBe(401);
    }
  });

  it('are valid for unknown paths and methods: 404 and 405', async () => {
    expect((await api.ask('GET', '/edge/v1/other', { as: token })).status).toBe(404);
    expect((await api.ask('GET', '/edge/v1/certificates/x', { as: token })).status).toBe(404);
    const wrong = await api.ask('DELETE', '/edge/v1/health', { as: token });
    expect([wrong.status, wrong.headers.allow]).toEqual([405, 'OPTIONS, POST']);
  });

  it('are limited by network if they are wrong', async () => {
    const guess = (i: number) =>
      api.app.inject({
        url: '/edge/v1/certificates/1',
        remoteAddress: '203.0.113.9',
        headers: { authorization: `Bearer edge_${String(i).padStart(43, 'x')}` },
      });
    const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => guess(i)));
    const statuses = answers.map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([...Array(30).fill(401), ...Array(10).fill(429)]);
  });

  it('are stored as a hash', async () => {
    const rows = await api.query<{ found: boolean }>`
      select exists (select from edges e where position(${token.slice(11)} in e::text) > 0) as found`;
    expect(rows).toEqual([{ found: false }]);
  });
});

it('are described in a public document, separate from that of customers', async () => {
  const { status, text } = await api.ask('GET', '/edge/v1/openapi.yaml', { as: null });
  expect(status).toBe(200);
  for (const path of ['/edge/v1/config', '/edge/v1/health', '/edge/v1/certificates/{id}'])
    expect(text).toContain(path);
  expect(text).not.toContain('/domains/');
  expect((await api.ask('GET', '/openapi.yaml', { as: null })).text).not.toContain('/edge/v1');
});

describe('health', () => {
  it('is stored with the address of the edge', async () => {
    const cursor = encodeEdgeCursor({
      region: 'eu',
      place: { epoch: 'e', from: 9n, inFlight: [], newest: undefined },
      after: undefined,
    });
    const unsupported = [{ rule_id: 7, why: 'no such module' }];
    const headers = { authorization: `Bearer ${token}` };
    const from = { method: 'POST', url: '/edge/v1/health', remoteAddress: '203.0.113.9' } as const;
    expect((await api.app.inject({ ...from, headers, payload: HEALTH })).statusCode).toBe(200);
    const { status, body } = await report({ ...HEALTH, cursor, unsupported });
    expect([status, body]).toEqual([200, { name: 'paris', region: 'eu', drained: false }]);
    const [stored] = await listEdges(api.db);
    expect(stored).toMatchObject({ load: 0.25, software: 'proxy 1.2', configCursor: cursor, unsupported });
    expect(stored?.seenAt).toBeInstanceOf(Date);
    expect(stored?.seenAddress).toBe('203.0.113.9'); // the loopback address of this call is not stored
    await drainEdge(api.db, 'paris', true);
    expect((await report(HEALTH)).body).toMatchObject({ drained: true });
    await drainEdge(api.db, 'paris', false);
    expect((await listEdges(api.db))[0]).toMatchObject({ unsupported: [], configCursor: null });
  });

  it.each<[string, unknown]>([
    ['load', { ...HEALTH, load: -1 }],
    ['load', { version: 'x' }],
    ['version', { ...HEALTH, version: 'x'.repeat(65) }],
    ['version', { ...HEALTH, version: 'a\nb' }],
    ['cursor', { ...HEALTH, cursor: 'AAAA' }],
    ['cursor', { ...HEALTH, cursor: 'x'.repeat(9000) }],
    ['unsupported[0].rule_id', { ...HEALTH, unsupported: [{ rule_id: 0, why: 'x' }] }],
    ['unsupported[0].why', { ...HEALTH, unsupported: [{ rule_id: 1, why: 'x'.repeat(201) }] }],
    ['unsupported[0].why', { ...HEALTH, unsupported: [{ rule_id: 1 }] }],
    ['unsupported', { ...HEALTH, unsupported: Array(1001).fill({ rule_id: 1, why: 'x' }) }],
    ['addresses', { ...HEALTH, addresses: ['192.0.2.66'] }],
    ['seen_at', { ...HEALTH, seen_at: '2099-01-01T00:00:00Z' }],
  ])('is rejected with a wrong %s', async (field, body) => {
    const answer = await report(body);
    expect([answer.status, answer.body.code]).toEqual([400, 'validation_failed']);
    expect(answer.body.fields.map((each: { field: string }) => each.field)).toContain(field);
    expect((await listEdges(api.db))[0]?.software).toBe('proxy 1.2');
  });

  it('is rejected if it is not JSON or too large', async () => {
    for (const body of ['{', [], { ...HEALTH, version: 'x'.repeat(600_000) }])
      expect((await report(body)).status).toBe(400);
  });

  it('is limited to sixty reports per minute', async () => {
    const busy = await api.makeEdge('busy');
    let status = 200;
    for (let i = 0; i <= 60; i++) ({ status } = await report(HEALTH, busy));
    expect(status).toBe(429);
    expect((await report(HEALTH)).status).toBe(200);
  });

  it('is rejected with a revoked or rotated token', async () => {
    const gone = await api.makeEdge('gone');
    await revokeEdge(api.db, 'gone');
    expect((await report(HEALTH, gone)).status).toBe(401);
    const rotated = await api.makeEdge('rotated');
    const next = await rotateEdgeToken(api.db, 'rotated');
    expect((await report(HEALTH, rotated)).status).toBe(401);
    expect((await report(HEALTH, next)).status).toBe(200);
  });
});

it.each([
  'x',
  'AAAA',
  encodeURIComponent('{}'),
  'a'.repeat(8001),
])('rejects the unknown cursor %s', async (after) => {
  const { status, body } = await api.ask('GET', `/edge/v1/config?after=${after}`, { as: token });
  expect([status, body.fields?.[0]?.field]).toEqual([400, 'after']);
});

describe('the key of a certificate', () => {
  let id: number;
  let domainId: number;
  beforeAll(async () => {
    domainId = (await api.makeDomain('keys.example.com')).id;
    id = await sealCertificate(api, domainId, 'keys.example.com');
  });

  const read = (remoteAddress = '127.0.0.1') =>
    api.app.inject({
      url: `/edge/v1/certificates/${id}`,
      remoteAddress,
      headers: { authorization: `Bearer ${token}` },
    });

  it('is returned to an edge that serves the domain, and each read is audited', async () => {
    const { statusCode, body } = await read();
    expect([statusCode, JSON.parse(body)]).toEqual([
      200,
      { id, certificate: 'the chain', private_key: 'the key' },
    ]);
    const rows = await api.query`
      select actor_name, target_id, target_name, after from audit_log where action = 'edge.read_key'`;
    expect(rows).toEqual([
      { actor_name: 'edge paris', target_id: id, target_name: 'keys.example.com.', after: { edge: 'paris' } },
    ]);
    expect(JSON.stringify(api.logged)).not.toContain('the key');
  });

  it('is returned without TLS over loopback only', async () => {
    expect([(await read('::1')).statusCode, (await read('192.0.2.7')).statusCode]).toEqual([200, 403]);
  });

  it('is not found if the certificate is unknown, or if no edge of the region serves the domain', async () => {
    expect((await api.ask('GET', '/edge/v1/certificates/1', { as: token })).status).toBe(404);
    const serve = (served: string) => api.query`update domains set served = ${served} where id = ${domainId}`;
    for (const [change, status] of [
      [() => setServedRegions(api.db, domainId, ['us']), 404],
      [() => setServedRegions(api.db, domainId, ['eu', 'us']), 200],
      [() => serve('none'), 404],
    ] as const) {
      await change();
      expect((await read()).statusCode).toBe(status);
    }
    await serve('full');
  });
});

it('reports of requests are refused with 503 without an analytics store', async () => {
  const headers = { 'content-type': 'application/x-ndjson', 'batch-id': 'a' };
  const answer = await api.ask('POST', '/edge/v1/requests', { as: token, body: '{}', headers });
  const told = [answer.status, answer.body.error, answer.headers['retry-after']];
  expect(told).toEqual([503, 'analytics is not enabled', '300']);
});

it('each call of an edge is recorded, whatever it requests', async () => {
  const stored = async (name: string) => (await listEdges(api.db)).find((edge) => edge.name === name);
  const calls = ['GET /edge/v1/certificates/1', 'POST /edge/v1/cache', 'GET /edge/v1/other'];
  for (const [i, call] of calls.entries()) {
    const as = await api.makeEdge(`called-${i}`);
    expect(await stored(`called-${i}`)).toMatchObject({ calledAt: null });
    const [method, path] = call.split(' ') as [string, string];
    await api.ask(method, path, { as });
    expect(await stored(`called-${i}`)).toMatchObject({ calledAt: expect.any(Date), seenAt: null });
  }
});
