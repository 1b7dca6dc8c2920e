import { describe, expect, it } from 'vitest';
import { sharedTestApi } from '../../support/api/api.ts';

const METHODS = ['GET', 'HEAD', 'OPTIONS'];

const api = sharedTestApi();

describe('an open path', () => {
  const paths = '/healthz /readyz /openapi.yaml /docs/openapi.yaml /openapi.json / /docs';
  it.each(paths.split(' '))('%s responds to GET, HEAD and OPTIONS without authentication', async (path) => {
    for (const as of [null, 'owner', 'svc_wrong']) {
      const options = await api.ask('OPTIONS', path, { as });
      expect([options.status, options.body]).toEqual([200, { methods: METHODS }]);
      expect(options.headers.allow).toBe('GET, HEAD, OPTIONS');
      expect(options.headers['x-request-id']).toEqual(expect.any(String));
    }
    expect((await api.ask('GET', path, { as: null })).status).toBe(200);
    const head = await api.ask('HEAD', path, { as: null });
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it('has no other methods, and no variant with another slash', async () => {
    for (const as of [null, 'owner']) {
      const { status, headers } = await api.ask('POST', '/healthz', { as });
      expect([status, headers.allow]).toEqual([405, 'GET, HEAD, OPTIONS']);
    }
    expect((await api.ask('OPTIONS', '/healthz/')).status).toBe(404);
    expect((await api.ask('OPTIONS', '/openapi.yml', { as: null })).status).toBe(401);
  });
});
