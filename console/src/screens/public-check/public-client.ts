// The API client of public pages, which sends no cookies.

import createClient from 'openapi-fetch';
import type { Schemas } from '../../api/client.ts';
import { dataOf } from '../../api/client.ts';
import type { paths } from '../../api/schema.d.ts';
import { send } from '../../api/send.ts';

export type PublicCheck = Schemas['PublicCheck'];

const open = createClient<paths>({ baseUrl: location.origin, credentials: 'omit', fetch: send });

export function loadPublicCheck(name: string, signal: AbortSignal): Promise<PublicCheck> {
  return dataOf(open.GET('/public/checks', { params: { query: { name } }, signal }));
}

export function askPublicCheck(name: string): Promise<PublicCheck> {
  return dataOf(open.POST('/public/checks', { body: { name } }));
}
