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

const disable = () => changeStatus(api.db, { domainId: domain.id, event: 'disable', ...OPERATOR });

describe('GET domain', () => {
  it('returns the fields that are set', async () => {
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
    for (const unset of ['developer_mode_until', 'moved_since', 'suspended_at', 'current_ns', 'verification'])
      expect(body).not.toHaveProperty(unset);
    expect(JSON.stringify(body)).not.toContain('null');
    expect(body.created_at).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  });

  it.each([
    ['owner', 'owner'],
    ['operator', 'owner'],
    ['admin', 'admin'],
    ['editor', 'editor'],
    ['viewer', 'viewer'],
  ] as const)('returns to %s the role %s', async (as, role) => {
    const { status, body } = await api.ask('GET', path, { as });
    expect([status, body.my_role, body.my_permissions]).toEqual([200, role, permissionsOf(role)]);
  });

  it('accepts the name in every form', async () => {
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

  it('accepts a name with a slash, as of classless reverse zones', async () => {
    await api.makeDomain('0/25.2.0.192.in-addr.arpa');
    const { status, body } = await api.ask('GET', '/domains/0%2F25.2.0.192.in-addr.arpa');
    expect([status, body.name]).toEqual([200, '0/25.2.0.192.in-addr.arpa']);
  });

  it('responds 404 to other slashes and invalid names', async () => {
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
});

describe('DELETE domain', () => {
  it('deletes the domain and frees its name immediately', async () => {
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

  it('accepts only an empty body', async () => {
    const { status, body } = await api.ask('DELETE', path, { body: { force: true } });
    expect([status, body.fields]).toEqual([400, [{ field: 'force', error: 'unknown field' }]]);
    expect((await api.ask('DELETE', path, { headers: { 'content-type': 'text/plain' } })).status).toBe(200);
  });
});

describe('POST enable', () => {
  const enable = (as = 'owner', body?: unknown) => api.ask('POST', `${path}/enable`, { as, body });

  it('makes a disabled domain pending', async () => {
    await disable();
    const { status, body, headers } = await enable('admin');
    expect(status).toBe(200);
    // As for a new domain, only the apex is answered until a check has seen the parent.
    expect(body).toMatchObject({ status: 'pending', my_role: 'admin' });
    expect((await api.ask('GET', path)).body.served).toBe('apex');
    expect(headers['x-zone-serial']).toBe(String(body.serial));
    expect(Number(headers['x-change-id'])).toBeGreaterThan(0);
  });

  it('is refused unless the domain is disabled', async () => {
    const { status, body } = await enable();
    expect([status, body.code]).toEqual([400, 'wrong_state']);
  });

  it('responds 409 while another account holds the name, unless `transfer` is set', async () => {
    await disable();
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
});
