// The API by its description: paths, parameters, bodies and answers are those of the generated types.

import createClient from 'openapi-fetch';
import type { paths as AdminPaths } from './admin-schema.d.ts';
import type { components, paths } from './schema.d.ts';
import { send } from './send.ts';

export type Schemas = components['schemas'];

const options = { baseUrl: location.origin, credentials: 'same-origin', fetch: send } as const;

export const api = createClient<paths>(options);
/** What global admins call besides. */
export const admin = createClient<AdminPaths>(options);

/** The data of an answer. A refusal has been thrown before, as `ApiError`. */
export async function dataOf<T>(answer: Promise<{ data?: T; error?: unknown }>): Promise<T> {
  return (await answer).data as T;
}

/** Makes a write happen once, also when it is sent again because its answer was lost. */
export function idempotent(): { header: { 'Idempotency-Key': string } } {
  return { header: { 'Idempotency-Key': crypto.randomUUID() } };
}
