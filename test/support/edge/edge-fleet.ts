// An API process, the token of a registered edge, an origin, and an owner with a domain, for flows of the agent.

import { createApiKey, generateKey } from '../../../src/store/accounts/api-keys.ts';
import { createEdge } from '../../../src/store/edges/edges.ts';
import { createDatabase } from '../database/database.ts';
import { newAccount, newDomain } from '../database/domains.ts';
import { type ApiProcess, askApi, type HttpAnswer, startApi } from '../processes/api-process.ts';
import { startTogether } from '../tests/start-together.ts';
import { startOrigin, type TestOrigin } from './origin/test-origin.ts';

/** Network of the tests' origins. The API and the agent reject other loopback addresses. */
export const ORIGINS = '127.0.7.0/24';
export const DOMAIN = 'shop.example';
/** The host that `own` answers for. */
export const HOST = `www.${DOMAIN}`;

export type EdgeFleet = Awaited<ReturnType<typeof startEdgeFleet>>;

export async function startEdgeFleet(options: { readonly env?: Readonly<Record<string, string>> } = {}) {
  const database = await createDatabase();
  const { db } = database;
  try {
    const ownerKey = generateKey();
    const accountId = await newAccount(db, 'owner@zonefleet.test');
    await createApiKey(db, ownerKey, { name: 'owner', accountId });
    await newDomain(db, accountId, `${DOMAIN}.`);
    const edge = { name: 'edge1', region: 'eu', v4: ['198.51.100.10'], v6: [] };
    const created = await createEdge(db, edge);
    if (created.kind !== 'created') throw new Error(created.kind);
    const env = { ALLOW_RESERVED_NAMES: 'on', ORIGIN_ALLOW: ORIGINS, ...options.env };
    const [api, own] = await startTogether<[ApiProcess, TestOrigin]>([
      startApi(database.url, { env }),
      startOrigin('own', '127.0.7.1'),
    ]);
    /** Calls the API as the domain's owner. */
    const ask = (method: string, path: string, body?: unknown): Promise<HttpAnswer> =>
      askApi(api.url, ownerKey, method, path, body);
    const fleet = {
      database,
      api,
      own,
      token: created.token,
      accountId,
      ask,
      /** Returns a proxied record that points to `own`. */
      recordOf(name: string): object {
        const { address: destination, port } = own;
        return { name, type: 'A', destination, port, scheme: 'Http', proxied: true };
      },
      /** Calls the API as the owner, below the domain's path. Throws unless it succeeds. */
      async change(method: string, path: string, body?: unknown): Promise<HttpAnswer['body']> {
        const { status, body: answer } = await ask(method, `/domains/${DOMAIN}${path}`, body);
        if (status >= 300) throw new Error(`${status} ${JSON.stringify(answer)}`);
        return answer;
      },
      async stop(): Promise<void> {
        await Promise.all([own.stop(), api.stop()]);
        await database.drop();
      },
    };
    await fleet.change('POST', '/records/', fleet.recordOf('www'));
    return fleet;
  } catch (error) {
    await database.drop();
    throw error;
  }
}
