// Paths that no route has but that are not merely 404: they were removed. Who finds them in an older client
// reads what to do instead.

import type { OpenAPIV3_1 } from 'openapi-types';
import type { Method } from '../calls/route.ts';

type Status = keyof typeof WORDS;

interface ClosedPath {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly tag: string;
  readonly summary: string;
  /** What keys and sessions get. */
  readonly statuses: readonly Status[];
  readonly removed: boolean;
}

const TAG = 'Plans';

const SUBSCRIPTION_WRITES = ['purchase', 'switch', 'auto-renew'] as const;

export const CLOSED_PATHS: readonly ClosedPath[] = [
  {
    method: 'GET',
    path: '/subscriptions/current',
    operationId: 'removedCurrentSubscription',
    tag: TAG,
    summary: 'Removed: read the subscriptions of a domain.',
    statuses: [410],
    removed: true,
  },
  ...SUBSCRIPTION_WRITES.map(
    (what): ClosedPath => ({
      method: 'POST',
      path: `/subscriptions/${what}`,
      operationId: `removed${camelCase(what)}`,
      tag: TAG,
      summary: 'Removed: subscriptions belong to a domain.',
      statuses: [403, 410],
      removed: true,
    }),
  ),
];

function camelCase(what: string): string {
  return what.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const WORDS = {
  403: 'No API key may use it. Codes: `managed_by_reseller`, for sessions too.',
  410: 'It was removed. `error` is `route_removed`, `message` says what to use instead.',
} as const;

/** `refusal`: the answer of a status, with these words. */
export function describeClosed(
  { operationId, tag, summary, statuses, removed, path }: ClosedPath,
  refusal: (status: number, words: string) => OpenAPIV3_1.ResponseObject,
): OpenAPIV3_1.OperationObject {
  return {
    operationId,
    tags: [tag],
    summary,
    ...(removed && { deprecated: true }),
    ...(path.includes('{domain}') && {
      parameters: [{ name: 'domain', in: 'path', required: true, schema: { type: 'string' } }],
    }),
    responses: Object.fromEntries(
      [400, 401, ...statuses, 429, 500, 503].map((each) => [
        each,
        refusal(each, WORDS[each as Status] ?? ''),
      ]),
    ),
  };
}
