// Completes a document with what the schemas do not contain: headers, problems with their codes, plain-text bodies
// and removed paths. Also removes the duplicate of each schema that the plugin writes.

import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { PROBLEM_CODES } from '../answers/problem.ts';
import { type Refusal, refusalsOf, WORDS } from '../calls/refusals.ts';
import { type Route, takesIdempotencyKey } from '../calls/route.ts';
import { type CLOSED_PATHS, describeClosed } from './documents.ts';

const codes = Object.keys(PROBLEM_CODES).map((code) => `\`${code}\``);

const ProblemBody = z
  .object({
    error: z.string().describe('For people. The wording may change.'),
    code: z
      .string()
      .optional()
      .describe(
        `For programs. Absent if the problem has no code. The known codes are ${codes.join(', ')}. Others may be added: treat an unknown code as absent.`,
      ),
    fields: z
      .array(z.object({ field: z.string(), error: z.string() }))
      .optional()
      .describe('With `validation_failed`: the errors by field.'),
    items: z
      .array(
        z.object({
          list: z.enum(['create', 'update', 'delete', 'replace']),
          index: z.int().min(0),
          field: z.string().optional(),
          error: z.string(),
        }),
      )
      .optional()
      .describe('For a batch: the errors by item.'),
    limit: z.int().optional().describe('With `plan_limit`: the number that the plan allows.'),
    domains: z
      .array(z.object({ id: z.int(), user_id: z.int(), status: z.string() }))
      .optional()
      .describe(
        'With `domain_ambiguous`: the domains that have this name. Use the id of one of them in the path.',
      ),
    above: z
      .array(
        z.object({
          limit: z.string().describe('The entitlement of the plan.'),
          what: z.string().describe('As in `domain_usage`.'),
          used: z.int(),
          allowed: z.int(),
        }),
      )
      .optional()
      .describe('For a purchase or a switch: the limits of the plan that the domain exceeds.'),
    feature: z
      .string()
      .optional()
      .describe('With `plan_feature`: the field of the features that is not enabled.'),
    invited_email: z
      .string()
      .optional()
      .describe('With `invite_email_mismatch`: the invited email address, masked.'),
    message: z.string().optional().describe('For removed routes: what to use instead.'),
  })
  .meta({ id: 'Problem' });

const HEADERS: Readonly<Record<string, OpenAPIV3_1.HeaderObject>> = {
  'X-Request-Id': {
    description: 'Identifies this request. Quote it when you report a problem.',
    schema: { type: 'string' },
  },
  'RateLimit-Limit': {
    description: 'Requests per 60 seconds for this key, or for all sessions of this account.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'Number of requests left.', schema: { type: 'integer' } },
  'RateLimit-Reset': {
    description: 'Seconds until one more request is allowed.',
    schema: { type: 'integer' },
  },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'Idempotent-Replay': {
    description: '`true` if the call was not repeated and this is its first response.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Change-Id': {
    description: 'The change that this call made. Absent if nothing changed.',
    schema: { type: 'integer' },
  },
  'X-Zone-Serial': { description: 'The serial of the zone after this call.', schema: { type: 'integer' } },
  Link: {
    description: 'The next page (`rel="next"`), and for domains also the previous page (`rel="prev"`).',
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description:
      'With `count=true`: the total number of items. For logs, accounts, clients and services, 10001 means more than 10,000.',
    schema: { type: 'integer' },
  },
  'Content-Disposition': { description: 'A suggested file name.', schema: { type: 'string' } },
  'Content-Security-Policy': {
    description: 'The page runs no scripts and loads nothing.',
    schema: { type: 'string' },
  },
  'X-Accel-Buffering': {
    description: '`no`: a proxy must forward the response without buffering it.',
    schema: { type: 'string', enum: ['no'] },
  },
  'WWW-Authenticate': { description: 'The authentication scheme.', schema: { type: 'string' } },
};

function headers(names: readonly string[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/**
 * Tidies the schemas. The plugin writes each schema twice, for requests (`…Input`) and for responses. Unreferenced
 * schemas are removed, and a schema that is used only in requests loses its suffix.
 */
function tidySchemas(document: OpenAPIV3_1.Document): OpenAPIV3_1.Document {
  const { schemas = {} } = document.components ?? {};
  const used = new Set<string>();
  const note = (value: unknown): void => {
    for (const [, name = ''] of JSON.stringify(value ?? null).matchAll(/#\/components\/schemas\/(\w+)"/g)) {
      if (used.has(name)) continue;
      used.add(name);
      note(schemas[name]);
    }
  };
  note(document.paths);
  const plainName = (name: string): string => {
    const plain = name.replace(/Input$/, '');
    return used.has(plain) ? name : plain;
  };
  const kept = Object.entries(schemas).filter(([name]) => used.has(name));
  document.components = {
    ...document.components,
    schemas: Object.fromEntries(kept.map(([name, schema]) => [plainName(name), tidySchema(schema, name)])),
  };
  const text = JSON.stringify(document).replaceAll(
    /(#\/components\/schemas\/)(\w+)"/g,
    (_, path: string, name: string) => `${path}${plainName(name)}"`,
  );
  return JSON.parse(text) as OpenAPIV3_1.Document;
}

function tidySchema(schema: object, name: string): object {
  const text = JSON.stringify(schema, (key, value) => {
    if (key === '$schema' || key === '$id') return undefined;
    if (key === 'maximum' && value === Number.MAX_SAFE_INTEGER) return undefined;
    // Responses may get new members later. Requests with unknown members are refused.
    if (key === 'additionalProperties' && !name.endsWith('Input')) return undefined;
    return value;
  });
  return JSON.parse(text) as object;
}

type Document = OpenAPIV3_1.Document;
type Operation = OpenAPIV3_1.OperationObject;

const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

/** Changes the document in place. Throws an error if a route has no operation. */
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
      content['text/plain'] = {
        schema: { type: 'string', description: `The text of \`${route.textBody}\`.` },
      };
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
  const listed = codes.length === 0 ? '' : ` Codes: ${codes.map((code) => `\`${code}\``).join(', ')}.`;
  const more: Record<number, string[]> = {
    401: ['WWW-Authenticate'],
    409: codes.includes('domain_taken') ? ['Retry-After'] : [],
    429: ['Retry-After'],
    503: ['Retry-After'],
  };
  const counted = isCounted && ![401, 500, 503].includes(status);
  return {
    description: `${words}${listed}`,
    headers: headers(['X-Request-Id', ...(counted ? RATE_HEADERS : []), ...(more[status] ?? [])]),
    content: { 'application/json': { schema: { $ref: PROBLEM } } },
  };
}
