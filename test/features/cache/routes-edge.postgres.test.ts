import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Domain } from '../../../src/store/domains/domain.ts';
import { setServedRegions } from '../../../src/store/edges/edge-regions.ts';
import { ownApi } from '../../support/api/api.ts';
import { startEdgeApi } from '../../support/edge/edge-api.ts';
import { at, storedEntry } from '../../support/edge/stored-entry.ts';

const api = ownApi(() => startEdgeApi());
let domain: Domain;
let name: string;
let made = 0;
const tokens: Record<string, string> = {};

beforeAll(async () => {
  tokens.fra = await api.makeEdge('fra', 'eu');
  tokens.nyc = await api.makeEdge('nyc', 'us');
});
beforeEach(async () => {
  name = `shop${made++}.test`;
  domain = await api.makeDomain(name);
});

const report = (entries: readonly object[], edge = 'fra') =>
  api.ask('POST', '/edge/v1/cache', { as: tokens[edge] as string, body: { entries } });
const keys = async (of = name) => (await api.ask('GET', `/domains/${of}/cache/keys`)).body;
const stored = (more: object = {}) => storedEntry(`www.${name}`, more);

describe('a report of what is cached', () => {
  it('stores entries with the name of the edge, and deletes evicted ones', async () => {
    const { status, body } = await report([stored(), stored({ key_hash: 'b', path: '/b' })]);
    expect([status, body]).toEqual([200, { stored: 2, evicted: 0, ignored: 0, dropped: 0 }]);
    expect((await keys()).rows.map(({ node }: { node: string }) => node)).toEqual(['fra', 'fra']);
    const gone = { op: 'evicted', domain_id: domain.id, key_hash: 'b', at: at(0) };
    expect((await report([gone])).body).toMatchObject({ evicted: 1 });
    expect((await keys()).rows).toMatchObject([{ key_hash: 'a' }]);
  });

  it('changes nothing if it is repeated', async () => {
    const entries = [stored(), stored({ key_hash: 'b' })];
    await report(entries);
    const before = await keys();
    expect((await report(entries)).body).toEqual({ stored: 0, evicted: 0, ignored: 2, dropped: 0 });
    expect(await keys()).toEqual(before);
  });

  it('keeps the entry that was cached last', async () => {
    const gone = { op: 'evicted', domain_id: domain.id, key_hash: 'a', at: at(-5) };
    await report([stored({ cached_at: at(-9) }), gone, stored({ cached_at: at(-1), size: 7 })]);
    expect((await keys()).rows).toMatchObject([{ size: 7 }]);
    await report([stored({ cached_at: at(-8), size: 8 }), { ...gone, at: at(-2) }]); // late
    expect((await keys()).rows).toMatchObject([{ size: 7 }]);
  });

  it('of a restart deletes the earlier entries of the edge only', async () => {
    tokens.ber = await api.makeEdge('ber', 'eu'); // other tests report as fra
    await report([stored({ cached_at: at(-10) })], 'ber');
    await report([stored({ cached_at: at(-10) })], 'nyc');
    const restarted = { op: 'restarted', at: at(-5) };
    const { body } = await report([restarted, stored({ key_hash: 'new', cached_at: at(-1) })], 'ber');
    expect(body).toEqual({ stored: 1, evicted: 1, ignored: 0, dropped: 0 });
    const { rows } = await keys();
    expect(rows.map((row: { node: string; key_hash: string }) => `${row.node} ${row.key_hash}`)).toEqual([
      'ber new',
      'nyc a',
    ]);
    // A late report from before the restart restores nothing.
    const late = await report([stored({ cached_at: at(-9) })], 'ber');
    expect(late.body).toMatchObject({ stored: 0, ignored: 1 });
  });

  it('of a cleared domain deletes its entries of the edge', async () => {
    const other = `other-${name}`;
    await api.makeDomain(other);
    await report([stored(), storedEntry(other)]);
    await report([stored()], 'nyc');
    await report([{ op: 'cleared', domain_id: domain.id, at: at(0) }]);
    expect((await keys()).rows).toMatchObject([{ node: 'nyc' }]);
    expect((await keys(other)).total).toBe(1);
  });

  it('ignores and counts hosts that the edge does not serve', async () => {
    await setServedRegions(api.db, domain.id, ['us']);
    const inner = `inner.${name}`;
    await api.makeDomain(inner); // served by all regions
    const entries = [stored(), storedEntry('elsewhere.example'), storedEntry(`x.${inner}`)];
    expect((await report(entries)).body).toEqual({ stored: 1, evicted: 0, ignored: 2, dropped: 0 });
    expect([(await keys()).total, (await keys(inner)).total]).toEqual([0, 1]);
    expect((await report([stored()], 'nyc')).body).toMatchObject({ stored: 1 });
  });

  it('does not delete entries of another edge', async () => {
    await report([stored()]);
    const gone = { op: 'evicted', domain_id: domain.id, key_hash: 'a', at: at(0) };
    const cleared = { op: 'cleared', domain_id: domain.id, at: at(0) };
    expect((await report([gone, cleared], 'nyc')).body).toMatchObject({ evicted: 0 });
    expect((await keys()).total).toBe(1);
  });

  it('is rejected as a whole, with the name of the wrong field', async () => {
    for (const wrong of [
      { hostname: '*.elsewhere.test' },
      { path: 'no-slash' },
      { path: '/\r\nx' },
      { host: 'WWW.test' },
      { size: -1 },
      { node: 'nyc' },
      { cached_at: 'yesterday' },
    ]) {
      const { body } = await report([stored({ key_hash: 'fine' }), stored(wrong)]);
      expect(body.fields?.[0].field).toBe(`entries[1].${Object.keys(wrong)}`);
    }
    expect((await keys()).total).toBe(0);
  });

  it('ignores expired and future entries, and keeps none for more than eight days', async () => {
    const { body } = await report([
      stored({ key_hash: 'over', expires_at: at(-1) }),
      stored({ key_hash: 'future', cached_at: at(3600) }),
      stored({ key_hash: 'long', expires_at: at(365 * 86_400) }),
    ]);
    expect(body).toMatchObject({ stored: 1, ignored: 2 });
    const [row] = (await keys()).rows;
    expect(Date.parse(row.expires_at)).toBeLessThan(Date.parse(at(8 * 86_400 + 60)));
  });
});

describe('an edge', () => {
  const send = (payload: string | Buffer, headers: Record<string, string> = {}) =>
    api.app.inject({
      method: 'POST',
      url: '/edge/v1/cache',
      headers: {
        authorization: `Bearer ${tokens.fra}`,
        'content-type': 'application/json',
        ...headers,
      },
      payload,
    });

  it('sends at most a thousand entries, of a limited number of hosts', async () => {
    const many = Array.from({ length: 1001 }, (_, i) => stored({ key_hash: String(i) }));
    expect((await report(many)).body.fields[0].field).toBe('entries');
    const wide = Array.from({ length: 500 }, (_, i) => storedEntry(`${'a.'.repeat(100)}${i}.test`));
    const error = expect.stringContaining('too many different hosts');
    expect(await report(wide)).toMatchObject({ status: 400, body: { fields: [{ error }] } });
  });

  it('sends at most 1 MiB, without compression', async () => {
    const large = JSON.stringify({ entries: [], x: 'x'.repeat(1024 * 1024) });
    expect((await send(large)).json().error).toBe('the body is too large');
    const bomb = gzipSync(Buffer.alloc(4 * 1024 * 1024, 0x20));
    const { statusCode } = await send(bomb, { 'content-encoding': 'gzip' });
    expect(statusCode).toBe(400);
  });
});
