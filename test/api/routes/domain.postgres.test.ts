import { beforeEach, describe, expect, it } from 'vitest';
import { permissionsOf } from '../../../src/api/callers/permissions.ts';
import { Domain } from '../../../src/api/schemas/domain.ts';
import { changeStatus } from '../../../src/store/change/change-status.ts';
import type { Domain as StoredDomain } from '../../../src/store/domains/domain.ts';
import { sharedTestApi } from '../../support/api/api.ts';

const OPERATOR = { by: { kind: 'cli', name: 'test' }, source: 'status' } as const;

const api = sharedTestApi();
let domain: StoredDomain;
let path: string;
let made = 0;

beforeEach(async () => {
  const name = `single${made++}.test`;
  domain = await api.makeDomain(name);
  path = `/domains/${name}`;
});

const move = (event: 'disable' | 'ban' | 'unban') =>
  changeStatus(api.db, { domainId: domain.id, event, ...OPERATOR });

describe('reading a domain', () => {
  it('answers every field that is set, and no other', async () => {
    const { status, body } = await api.ask('GET', path);
    expect(status).toBe(200);
    expect(Domain.strict().parse(body)).toEqual(body);
    expect(body).toMatchObject({
      id: domain.id,
      cache_l2_max_gb: 10,
      cache_l2_ttl_days: 7,
      cache_cap_mb: 512,
      uptime_threshold_pct: 80,
      my_permissions: permissionsOf('owner'),
    });
    for (const unset of [
      'developer_mode_until',
      'moved_since',
      'suspended_at',
      'current_ns',
      'verification',
    ]) {
      expect(body).not.toHaveProperty(unset);
    }
    expect(JSON.stringify(body)).not.toContain('null');
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it.each([
    ['owner', 'owner'],
    ['operator', 'owner'],
    ['admin', 'admin'],
    ['editor', 'editor'],
    ['viewer', 'viewer'],
  ] as const)('tells %s that the role is %s', async (as, role) => {
    const { status, body } = await api.ask('GET', path, { as });
    expect([status, body.my_role, body.my_permissions]).toEqual([200, role, permissionsOf(role)]);
  });

  it('is refused to others', async () => {
    const { status, body } = await api.ask('GET', path, { as: 'stranger' });
    expect([status, body]).toEqual([404, { error: 'domain not found' }]);
    expect((await api.ask('GET', path, { as: null })).status).toBe(401);
  });

  it('takes the name in every spelling', async () => {
    await api.makeDomain('bücher.test');
    for (const name of [
      'xn--bcher-kva.test',
      'XN--BCHER-KVA.TEST.',
      encodeURIComponent('Bücher.test'),
      'b%C3%BCcher.test.',
    ]) {
      expect((await api.ask('GET', `/domains/${name}`)).body.name).toBe('xn--bcher-kva.test');
    }
  });

  it('takes a name with a slash, as classless reverse zones have', async () => {
    await api.makeDomain('0/25.2.0.192.in-addr.arpa');
    const { status, body } = await api.ask('GET', '/domains/0%2F25.2.0.192.in-addr.arpa');
    expect([status, body.name]).toEqual([200, '0/25.2.0.192.in-addr.arpa']);
  });

  it('knows no other slash and no nonsense', async () => {
    for (const other of [
      `/domains/${domain.id}/`,
      `/domains/0${domain.id}`,
      `${path}/`,
      '/domains/a..b',
      '/domains/%00',
    ]) {
      expect((await api.ask('GET', other)).status).toBe(404);
    }
  });

  it('goes on while it is disabled or banned', async () => {
    await move('disable');
    expect((await api.ask('GET', path, { as: 'viewer' })).body).toMatchObject({
      status: 'disabled',
      served: 'none',
    });
    await move('ban');
    expect((await api.ask('GET', path)).body).toMatchObject({ status: 'banned', served: 'none' });
  });
});

describe('deleting a domain', () => {
  it('takes it away and frees its name at once', async () => {
    const { serial } = (await api.ask('GET', path)).body;
    const { status, body, headers } = await api.ask('DELETE', path);
    expect([status, body]).toEqual([200, { message: expect.any(String) }]);
    expect(headers['x-zone-serial']).toBe(String(serial + 1));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
    expect((await api.ask('GET', path)).status).toBe(404);
    expect((await api.ask('DELETE', path)).status).toBe(404);
    const taken = await api.ask('POST', '/domains/', { as: 'stranger', body: { name: path.split('/')[2] } });
    expect(taken.status).toBe(200);
    expect(taken.body.serial).toBeGreaterThan(serial + 1);
  });

  it.each([
    ['admin', 403],
    ['editor', 403],
    ['viewer', 403],
    ['stranger', 404],
    ['operator', 200],
  ] as const)('as %s: %i', async (as, status) => {
    expect((await api.ask('DELETE', path, { as })).status).toBe(status);
  });

  it('goes on while it is disabled, but not while it is banned', async () => {
    await move('ban');
    const banned = await api.ask('DELETE', path);
    expect([banned.status, banned.body.code]).toEqual([403, 'domain_banned']);
    await move('disable');
    expect((await api.ask('DELETE', path)).status).toBe(200);
  });

  it('takes no body but an empty one', async () => {
    const { status, body } = await api.ask('DELETE', path, { body: { force: true } });
    expect([status, body.fields]).toEqual([400, [{ field: 'force', error: 'unknown field' }]]);
    expect((await api.ask('DELETE', path, { headers: { 'content-type': 'text/plain' } })).status).toBe(200);
  });
});

describe('enabling a domain', () => {
  const enable = (as = 'owner', body?: unknown) => api.ask('POST', `${path}/enable`, { as, body });

  it('starts a disabled one over', async () => {
    await move('disable');
    const { status, body, headers } = await enable('admin');
    expect(status).toBe(200);
    // like a new one: until a check has seen its parent only its apex is answered
    expect(body).toMatchObject({ status: 'pending', my_role: 'admin' });
    expect((await api.ask('GET', path)).body.served).toBe('apex');
    expect(headers['x-zone-serial']).toBe(String(body.serial));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
  });

  it('starts a disabled external one over as unverified', async () => {
    await api.ask('PUT', path, { body: { dns_mode: 'external' } });
    await move('disable');
    expect((await enable()).body).toMatchObject({ status: 'unverified', served: 'none' });
  });

  it('is refused in every other state', async () => {
    const { status, body } = await enable();
    expect([status, body.code]).toEqual([400, 'wrong_state']);
    await move('ban');
    expect((await enable()).body.code).toBe('domain_banned');
  });

  it('waits beside another account that waits for the name', async () => {
    await move('disable');
    const name = path.split('/')[2];
    expect((await api.ask('POST', '/domains/', { as: 'stranger', body: { name } })).status).toBe(200);
    expect((await enable()).body).toMatchObject({ status: 'pending', id: domain.id });
  });

  it('is a conflict while another account holds the name, unless it may wait', async () => {
    await move('disable');
    const name = path.split('/')[2];
    const { body: held } = await api.ask('POST', '/domains/', { as: 'stranger', body: { name } });
    await api.db.updateTable('domains').set({ status: 'active' }).where('id', '=', held.id).execute();
    for (const body of [undefined, {}, { transfer: false }]) {
      const { status, body: refused } = await enable('owner', body);
      expect([status, refused.code, refused.error]).toEqual([
        409,
        'domain_taken',
        expect.stringContaining('with "transfer": true it waits'),
      ]);
    }
    expect((await enable('owner', { transfer: true })).body).toMatchObject({
      id: domain.id,
      status: 'pending',
    });
    expect((await api.ask('GET', path)).body.served).toBe('none');
    const other = await api.ask('GET', `/domains/${name}`, { as: 'stranger' });
    expect(other.body).toMatchObject({ id: held.id, status: 'active' });
  });

  it.each([{ transfer: 1 }, { transfer: null }, { wait: true }])('refuses the body %j', async (body) => {
    await move('disable');
    const { status, body: refused } = await enable('owner', body);
    expect([status, refused.code]).toEqual([400, 'validation_failed']);
  });

  it.each([
    ['editor', 403],
    ['viewer', 403],
    ['stranger', 404],
  ] as const)('as %s: %i', async (as, status) => {
    await move('disable');
    expect((await enable(as)).status).toBe(status);
  });

  it('is what one of two at once does', async () => {
    await move('disable');
    const statuses = (await Promise.all([enable(), enable()])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([200, 400]);
  });
});
