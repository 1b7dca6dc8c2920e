// The client of the API, with types generated from its description.

import createClient from 'openapi-fetch';
import type { paths as AdminPaths } from './admin-schema.d.ts';
import type { components, paths } from './schema.d.ts';
import { send } from './send.ts';

export type Schemas = components['schemas'];

const options = { baseUrl: location.origin, credentials: 'same-origin', fetch: send } as const;

export const api = createClient<paths>(options);
/** Routes for global admins. */
export const admin = createClient<AdminPaths>(options);

/** Returns the data of a response. Errors have already been thrown as `ApiError`. */
export async function dataOf<T>(answer: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  return (await answer).data as T;
}

/** Makes a write happen only once if it is sent again because its response was lost. */
export function idempotent(): { header: { 'Idempotency-Key': string } } {
  return { header: { 'Idempotency-Key': crypto.randomUUID() } };
}
