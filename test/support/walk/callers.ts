import type { KeyObject } from 'node:crypto';
import { randomBytes } from 'node:crypto';
import {
  makeVantageKey,
  readPrivateKey,
  signVantageRequest,
} from '../../../src/process/vantage-signature.ts';
import { updateAccount } from '../../../src/store/accounts/accounts.ts';
import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { openSession } from '../../../src/store/people/sessions.ts';
import { addVantage } from '../../../src/store/vantage/vantages.ts';
import { PUBLIC_URL, type TestApi } from '../api/api.ts';
import { newAccount } from '../database/domains.ts';
import { ROLES, type WalkCaller } from './caller-names.ts';
import { agePassword, makeClient } from './resellers.ts';

/** Returns the account whose key or session the caller uses, or undefined if it uses none. */
export function personOf(caller: WalkCaller): 'owner' | 'client' | 'operator' | undefined {
  if (['no credential', 'unknown key', 'expired key', 'observer'].includes(caller)) return undefined;
  if (caller.startsWith('client')) return 'client';
  return caller.startsWith('operator') ? 'operator' : 'owner';
}

/** Returns the email address of the caller's account, unless the world creates one for it. */
export function emailOf(caller: WalkCaller): string {
  const [role] = /^(viewer|editor|admin|operator|stranger)\b/.exec(caller) ?? [];
  if (role !== undefined) return `${role}@zonefleet.test`;
  if (/^(client|inactive)\b/.test(caller)) return `${/^\w+/.exec(caller)?.[0]}@walk.test`;
  return 'owner@zonefleet.test';
}

/** Objects that all rows of a walk share. */
export interface Walkers {
  readonly api: TestApi;
  readonly keys: ReadonlyMap<WalkCaller, string>;
  readonly clientId: number;
  readonly observer: { readonly name: string; readonly key: KeyObject };
}

const ELSEWHERE = 'elsewhere.test';

export async function prepareWalkers(api: TestApi): Promise<Walkers> {
  const { db } = api.database;
  const keyOf = async (accountId: number) => {
    const text = generateKey();
    await createApiKey(db, text, { name: 'walk', accountId });
    return text;
  };
  const clientId = await newClient(api, 'client@walk.test');
  const inactiveId = await newAccount(db, 'inactive@walk.test');
  await updateAccount(db, inactiveId, { active: false });
  const { privateKey, publicKey } = makeVantageKey();
  await addVantage(db, { name: 'walk', network: 'walk', publicKey, address: null });
  return {
    api,
    clientId,
    observer: { name: 'walk', key: readPrivateKey(privateKey) as KeyObject },
    keys: new Map<WalkCaller, string>([
      ['expired key', await api.makeKey({ expiresAt: new Date(Date.now() - 1000) })],
      ['read-only key', await api.makeKey({ readOnly: true })],
      ['key for another domain', await api.makeKey({ domains: [ELSEWHERE] })],
      ...ROLES.map((role) => [role, api.keys[role]] as const),
      ['inactive account', await keyOf(inactiveId)],
      ['client', await keyOf(clientId)],
      ['owner of a disabled domain', api.keys.owner],
      ['owner of a banned domain', api.keys.owner],
    ]),
  };
}

/** Creates an account that the reseller `stranger` manages. */
export const newClient = (api: TestApi, email: string) =>
  makeClient(api, { id: api.accountIds.stranger }, email);

interface Proving {
  readonly accountId: number;
  readonly domain: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly body: string | undefined;
}

/** Returns the headers that authenticate the caller. */
export async function proofOf(
  { api, keys, observer }: Walkers,
  caller: WalkCaller,
  { accountId, domain = ELSEWHERE, method, path, body = '' }: Proving,
): Promise<Record<string, string>> {
  const bearer = (text: string) => ({ authorization: `Bearer ${text}` });
  const key = keys.get(caller);
  if (key !== undefined) return bearer(key);
  const { db } = api.database;
  const session = async (carrier: 'cookie' | 'bearer', origin?: string) => {
    const token = await openSession(db, { accountId, carrier, address: '192.0.2.1', userAgent: 'walk' });
    if (carrier === 'bearer') return bearer(token);
    if (caller.endsWith('old password')) await agePassword(api, token);
    return { cookie: `__Host-session=${token}`, ...(origin !== undefined && { origin }) };
  };
  switch (caller) {
    case 'unknown key':
      return bearer(generateKey());
    case 'key for some records':
      return bearer(await api.makeKey({ names: [`www.${domain}`], types: ['A'] }));
    case 'X-Api-Key':
      return { 'x-api-key': api.keys.owner };
    case "client's session":
      return await session('bearer');
    case 'session without Origin':
      return await session('cookie');
    case 'session from another Origin':
      return await session('cookie', 'https://elsewhere.example');
    case 'session':
    case 'session with an old password':
    case "operator's session":
    case "operator's session with an old password":
      return await session('cookie', PUBLIC_URL);
    case 'observer':
      return signVantageRequest(
        observer.key,
        observer.name,
        { method, path, body: Buffer.from(body) },
        { nonce: randomBytes(16) },
      );
    default:
      return {};
  }
}
