// What the schemas of routes do not say: headers, refusals with their codes, bodies of plain text, and closed paths.

import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { type Refusal, refusalsOf, WORDS } from '../calls/refusals.ts';
import { type Route, takesIdempotencyKey } from '../calls/route.ts';
import { ProblemBody } from '../schemas/problem.ts';
import { HEADERS, headers } from './answer-headers.ts';
import { type CLOSED_PATHS, describeClosed } from './closed-paths.ts';
import { tidySchemas } from './tidy-schemas.ts';

type Document = OpenAPIV3_1.Document;
type Operation = OpenAPIV3_1.OperationObject;

const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Changes the document in its place; throws where a route has no operation. */
export function finishDocument(
  document: Document,
  routes: readonly Route[],
  closedPaths: typeof CLOSED_PATHS,
): Document {
  for (const route of routes) {
    const operation = (document.paths?.[route.path] as Record<string, Operation> | undefined)?.[
      route.method.toLowerCase()
    ];
    if (operation === undefined) throw new Error(`${route.method} ${route.path} is not described`);
    if (operation.requestBody !== undefined && route.body?.safeParse(undefined).success === true) {
      (operation.requestBody as OpenAPIV3_1.RequestBodyObject).required = false;
    }
    if (route.streamedBody === true) {
      const body = operation.requestBody as OpenAPIV3_1.RequestBodyObject;
      body.content = { 'application/x-ndjson': body.content['application/json'] as object };
    }
    if (route.textBody !== undefined) {
      const { content } = operation.requestBody as OpenAPIV3_1.RequestBodyObject;
      content['text/plain'] = { schema: { type: 'string', description: `As \`${route.textBody}\`.` } };
    }
    const isCounted = !['public', 'vantage', 'gateway', 'edge'].includes(route.access.kind);
    const common = ['X-Request-Id', ...(isCounted ? RATE_HEADERS : [])];
    const replay = takesIdempotencyKey(route) ? ['Idempotent-Replay'] : [];
    const success = operation.responses?.['200'] as OpenAPIV3_1.ResponseObject;
    success.description = route.summary;
    if (route.textResponse !== undefined)
      success.content = { [route.textResponse]: { schema: { type: 'string' } } };
    success.headers = headers([...common, ...replay, ...(route.answerHeaders ?? [])]);
    for (const refusal of refusalsOf(route)) {
      operation.responses = { ...operation.responses, [refusal.status]: describeRefusal(refusal, isCounted) };
    }
  }
  for (const closed of closedPaths) {
    const operation = describeClosed(closed, (status, words) =>
      describeRefusal({ status, words: words ?? WORDS[status] ?? '', codes: [] }, true),
    );
    const item = { ...document.paths?.[closed.path], [closed.method.toLowerCase()]: operation };
    document.paths = { ...document.paths, [closed.path]: item };
  }
  document.components = { ...document.components, headers: { ...HEADERS } };
  return tidySchemas(document);
}

const PROBLEM = `#/components/schemas/${z.globalRegistry.get(ProblemBody)?.id}`;

function describeRefusal({ status, words, codes }: Refusal, isCounted: boolean): OpenAPIV3_1.ResponseObject {
  const told = codes.length === 0 ? '' : ` Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.`;
  const more: Record<number, string[]> = {
    401: ['WWW-Authenticate'],
    409: codes.includes('domain_taken') ? ['Retry-After'] : [],
    429: ['Retry-After'],
    503: ['Retry-After'],
  };
  const counted = isCounted && ![401, 500, 503].includes(status);
  return {
    description: `${words}${told}`,
    headers: headers(['X-Request-Id', ...(counted ? RATE_HEADERS : []), ...(more[status] ?? [])]),
    content: { 'application/json': { schema: { $ref: PROBLEM } } },
  };
}
