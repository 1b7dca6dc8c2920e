// Completes a document with what the schemas of routes do not say: headers, problems with their codes, bodies of plain text,
// and removed paths. Also removes the second copy of each schema, which the plugin writes.

import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { PROBLEM_CODES } from '../answers/problem.ts';
import { type Refusal, refusalsOf, WORDS } from '../calls/refusals.ts';
import { type Route, takesIdempotencyKey } from '../calls/route.ts';
import { type CLOSED_PATHS, describeClosed } from './documents.ts';

const codes = Object.keys(PROBLEM_CODES).map((code) => `\`${code}\``);

const ProblemBody = z
  .object({
    error: z.string().describe('For people; its wording may change.'),
    code: z
      .string()
      .optional()
      .describe(
        `For programs, where there is one. Known are ${codes.join(', ')}; others may come: take a code that you do not know as absent.`,
      ),
    fields: z
      .array(z.object({ field: z.string(), error: z.string() }))
      .optional()
      .describe('With `validation_failed`: what is wrong, by field.'),
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
      .describe('Of a batch: what is wrong, by item.'),
    limit: z.int().optional().describe('With `plan_limit`: how many the plan allows.'),
    domains: z
      .array(z.object({ id: z.int(), user_id: z.int(), status: z.string() }))
      .optional()
      .describe('With `domain_ambiguous`: the domains of this name. Say which by its id in the path.'),
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
      .describe('Of a purchase or a switch: what the domain uses more of than the plan allows.'),
    feature: z
      .string()
      .optional()
      .describe('With `plan_feature`: the field of the features that is not enabled.'),
    invited_email: z
      .string()
      .optional()
      .describe('With `invite_email_mismatch`: the email that is invited, masked.'),
    message: z.string().optional().describe('Of removed routes: what to use instead.'),
  })
  .meta({ id: 'Problem' });

const HEADERS: Readonly<Record<string, OpenAPIV3_1.HeaderObject>> = {
  'X-Request-Id': { description: 'Names this request in reports.', schema: { type: 'string' } },
  'RateLimit-Limit': {
    description: 'Requests in any 60 seconds for this key, or for the sessions of this account.',
    schema: { type: 'integer' },
  },
  'RateLimit-Remaining': { description: 'How many are left.', schema: { type: 'integer' } },
  'RateLimit-Reset': { description: 'Seconds until there is one more.', schema: { type: 'integer' } },
  'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
  'Idempotent-Replay': {
    description: '`true`: the call was not made again, this is the first answer.',
    schema: { type: 'string', enum: ['true'] },
  },
  'X-Change-Id': {
    description: 'The change that this call made, if it changed anything.',
    schema: { type: 'integer' },
  },
  'X-Zone-Serial': { description: 'The serial of the zone after it.', schema: { type: 'integer' } },
  Link: {
    description: 'The next page: `rel="next"`, and of domains the one before: `rel="prev"`.',
    schema: { type: 'string' },
  },
  'X-Total-Count': {
    description:
      'With `count=true`: all items there are. Of logs, accounts, clients and services 10001 means more than 10,000.',
    schema: { type: 'integer' },
  },
  'Content-Disposition': { description: 'A name for the file.', schema: { type: 'string' } },
  'Content-Security-Policy': {
    description: 'The page runs and loads nothing.',
    schema: { type: 'string' },
  },
  'X-Accel-Buffering': {
    description: '`no`: a proxy passes it on as it comes.',
    schema: { type: 'string', enum: ['no'] },
  },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
};

function headers(names: readonly string[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/**
 * Tidies the schemas. Each is there twice, as it is sent (`…Input`) and as it is answered: those without a reference
 * are left out, and one that is only sent gets its plain name.
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
    // responses may get new members later; requests with unknown members are refused
    if (key === 'additionalProperties' && !name.endsWith('Input')) return undefined;
    return value;
  });
  return JSON.parse(text) as object;
}

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
