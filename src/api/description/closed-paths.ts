// Paths that were removed. Their refusal names what to use instead.

import type { OpenAPIV3_1 } from 'openapi-types';
import type { Method } from '../calls/route.ts';

interface ClosedPath {
  readonly method: Method;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
}

const SUBSCRIPTION_WRITES = ['purchase', 'switch', 'auto-renew'] as const;

export const CLOSED_PATHS: readonly ClosedPath[] = [
  {
    method: 'GET',
    path: '/subscriptions/current',
    operationId: 'removedCurrentSubscription',
    summary: 'Removed: read the subscriptions of a domain.',
  },
  ...SUBSCRIPTION_WRITES.map(
    (what): ClosedPath => ({
      method: 'POST',
      path: `/subscriptions/${what}`,
      operationId: `removed${camelCase(what)}`,
      summary: 'Removed: subscriptions belong to a domain.',
    }),
  ),
];

function camelCase(what: string): string {
  return what.replaceAll(/(?:^|-)(\w)/g, (_, letter: string) => letter.toUpperCase());
}

const WORDS: Readonly<Record<number, string>> = {
  403: 'The account is inactive, its reseller manages it, or API keys may not write here. Codes: `account_suspended`, `managed_by_reseller`.',
  410: 'It was removed. `error` is `route_removed`, `message` says what to use instead.',
};

/** `refusal` makes the response of a status. Without words it uses those of the status. */
export function describeClosed(
  { operationId, summary }: ClosedPath,
  refusal: (status: number, words: string | undefined) => OpenAPIV3_1.ResponseObject,
): OpenAPIV3_1.OperationObject {
  const statuses = [400, 401, 403, 410, 429, 500, 503];
  return {
    operationId,
    tags: ['Plans'],
    summary,
    deprecated: true,
    responses: Object.fromEntries(statuses.map((status) => [status, refusal(status, WORDS[status])])),
  };
}
