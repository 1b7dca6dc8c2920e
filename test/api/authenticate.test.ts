import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { KeyUses, presentedKey } from '../../src/api/authenticate.ts';
import { generateKey, hashKey, listApiKeys, revokeApiKey } from '../../src/store/api-keys.ts';
import { startTestApi, type TestApi } from '../support/api.ts';

const KEY = `svc_${'a'.repeat(40)}`;
const OTHER = `svc_${'b'.repeat(40)}`;

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api?.stop());

const statusWith = async (headers: Record<string, string>) =>
  (await api.ask('GET', '/domains/ns-sets', { as: null, headers })).status;

describe('the key of a request', () => {
  it.each([
    [{ authorization: `Bearer ${KEY}` }, KEY],
    [{ authorization: `bearer   ${KEY} ` }, KEY],
    [{ 'x-api-key': ` ${KEY} ` }, KEY],
    [{ authorization: `Bearer ${KEY}`, 'x-api-key': KEY }, KEY],
    [{ authorization: `Bearer ${KEY}`, 'x-api-key': OTHER }, undefined],
    [{ authorization: `Basic ${KEY}` }, undefined],
    [{ authorization: 'Bearer' }, undefined],
    [{ authorization: `Bearer ${KEY}x` }, undefined],
    [{ authorization: `Bearer ${KEY} ${OTHER}` }, undefined],
    [{ authorization: KEY, 'x-api-key': KEY }, undefined],
    [{ 'x-api-key': '' }, undefined],
    [{}, undefined],
  ])('is read from %j', (headers, key) => {
    expect(presentedKey(headers)).toBe(key);
  });

  it('may come in either header, with the same result', async () => {
    expect(await statusWith({ authorization: `Bearer ${api.keys.owner}` })).toBe(200);
    expect(await statusWith({ 'x-api-key': api.keys.owner })).toBe(200);
  });

  it('that is unknown, expired or revoked is 401 in the same words, from the next request on', async () => {
    const expired = await api.makeKey({ expiresAt: new Date(Date.now() - 1000) });
    const revoked = await api.makeKey();
    expect(await statusWith({ 'x-api-key': revoked })).toBe(200);
    await revokeApiKey(api.database.db, hashKey(revoked));
    for (const key of [generateKey(), expired, revoked, 'svc_short', `${api.keys.owner}x`]) {
      const { status, body } = await api.ask('GET', '/domains/ns-sets', { as: key });
      expect([status, body]).toEqual([401, { error: 'a valid API key is needed' }]);
    }
  });

  it('may expire later', async () => {
    const key = await api.makeKey({ expiresAt: new Date(Date.now() + 60_000) });
    expect(await statusWith({ 'x-api-key': key })).toBe(200);
  });
});

describe('the last use of a key', () => {
  it('is remembered, without a write for each request', async () => {
    const db = api.database.db;
    await api.makeKey({ name: 'counted' });
    const load = async () => (await listApiKeys(db)).find(({ name }) => name === 'counted');
    const id = (await load())?.id as number;
    let nowMs = 0;
    const uses = new KeyUses(db, () => nowMs);
    expect((await load())?.lastUsedAt).toBeNull();
    uses.note(id);
    await uses.settle();
    const first = (await load())?.lastUsedAt;
    expect(first).toBeInstanceOf(Date);
    nowMs = 30_000;
    uses.note(id);
    await uses.settle();
    expect((await load())?.lastUsedAt).toEqual(first);
  });
});
