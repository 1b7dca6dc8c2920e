import { describe, expect, it } from 'vitest';
import {
  authenticate,
  judgeCredentials,
  KeyUses,
  openCredentials,
} from '../../../src/api/callers/authenticate.ts';
import { KeyLookups, WrongKeys } from '../../../src/api/callers/key-lookups.ts';
import {
  createApiKey,
  type FoundKey,
  findKeyIds,
  generateKey,
  hashKey,
  listApiKeys,
  revokeApiKey,
  touchApiKey,
} from '../../../src/store/accounts/api-keys.ts';
import { ownApi, startTestApi } from '../../support/api/api.ts';

const KEY = `svc_${'a'.repeat(40)}`;
const OTHER = `svc_${'b'.repeat(40)}`;

const api = ownApi(() => startTestApi());

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
  ])('is read from %j', async (headers, key) => {
    const looked: Buffer[] = [];
    const keys = new KeyLookups<FoundKey>(async (hashes) => {
      looked.push(...hashes);
      return new Map();
    });
    const { sessions, tokens } = openCredentials(api.db);
    await authenticate({ keys, sessions, tokens, wrong: new WrongKeys() }, headers, { address: '192.0.2.1' });
    expect(looked).toEqual(key === undefined ? [] : [hashKey(key)]);
  });

  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  it.each([
    [basic(`anyone:${KEY}`), KEY],
    [basic(`:${KEY}`), KEY],
    [{ ...basic(`:${KEY}`), 'x-api-key': KEY }, KEY],
    [{ authorization: `Bearer ${KEY}` }, KEY],
    [{ 'x-api-key': KEY }, KEY],
    [basic(KEY), undefined],
    [basic(`${KEY}:`), undefined],
    [{ ...basic(`:${KEY}`), 'x-api-key': OTHER }, undefined],
    [{ authorization: `Bearer ses_${'a'.repeat(40)}` }, undefined],
    [basic(`:ses_${'a'.repeat(40)}`), undefined],
  ])('is read from %j on a compatibility surface, which ignores sessions', async (headers, key) => {
    const looked: Buffer[] = [];
    const record = async (hashes: readonly Buffer[]) => {
      looked.push(...hashes);
      return new Map();
    };
    const { tokens } = openCredentials(api.db);
    const known = { keys: new KeyLookups(record), sessions: new KeyLookups(record), tokens };
    const shown = { address: '192.0.2.1', cookie: `ses_${'c'.repeat(40)}`, isCompat: true };
    await authenticate({ ...known, wrong: new WrongKeys() } as never, headers, shown);
    await authenticate({ ...known, wrong: new WrongKeys() } as never, {}, shown);
    expect(looked).toEqual(key === undefined ? [] : [hashKey(key)]);
  });

  it('is refused with the same 401 if it is unknown, expired or revoked, from the next request on', async () => {
    const expired = await api.makeKey({ expiresAt: new Date(Date.now() - 1000) });
    const revoked = await api.makeKey();
    expect(await statusWith({ 'x-api-key': revoked })).toBe(200);
    const later = await api.makeKey({ expiresAt: new Date(Date.now() + 60_000) });
    expect(await statusWith({ authorization: `Bearer ${later}` })).toBe(200);
    for (const id of await findKeyIds(api.db, revoked)) await revokeApiKey(api.db, id);
    for (const key of [generateKey(), expired, revoked, 'svc_short', `${api.keys.owner}x`]) {
      const { status, body } = await api.ask('GET', '/domains/ns-sets', { as: key });
      expect([status, body]).toEqual([401, { error: 'a valid API key is required' }]);
    }
  });
});

describe('repeated credentials', () => {
  it.each([
    [['Authorization', 'Bearer a', 'authorization', 'Bearer b'], /^the Authorization header/],
    [['X-Api-Key', 'a', 'Host', 'x', 'x-api-key', 'a'], /^the X-Api-Key header/],
  ])('are refused: %j', (rawHeaders, words) => {
    expect(judgeCredentials(rawHeaders)).toMatchObject({ status: 400, error: expect.stringMatching(words) });
  });

  it.each([
    [['Authorization', 'authorization', 'X-Api-Key', 'X-Api-Key']],
    [['Accept', 'a', 'Accept', 'b']],
    [[]],
  ])('are not found in %j', (rawHeaders) => expect(judgeCredentials(rawHeaders)).toBeUndefined());
});

it('wrong keys are limited by address, and valid keys from that address are accepted', async () => {
  const late = generateKey();
  for (let i = 0; i < 30; i++) await statusWith({ 'x-api-key': generateKey() });
  const refused = await api.ask('GET', '/domains/ns-sets', { as: generateKey() });
  expect([refused.status, refused.body]).toEqual([
    429,
    { error: 'too many wrong API keys from this address' },
  ]);
  expect(Number(refused.headers['retry-after'])).toBeGreaterThan(0);
  expect(await statusWith({ 'x-api-key': api.keys.viewer })).toBe(200); // the first use of this key
  await createApiKey(api.db, late, { accountId: api.accountIds.owner, name: 'late' });
  expect(await statusWith({ 'x-api-key': late })).toBe(200);
  expect(await statusWith({})).toBe(401);
});

it('the last use of a key is stored, without a write for each request', async () => {
  const db = api.db;
  await api.makeKey({ name: 'counted' });
  const load = async () => (await listApiKeys(db)).find(({ name }) => name === 'counted');
  const id = (await load())?.id as number;
  let nowMs = 0;
  const uses = new KeyUses(db, touchApiKey, () => nowMs);
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
