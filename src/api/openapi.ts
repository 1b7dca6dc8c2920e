// The description of the API, made from the schemas that validate requests: every route with its answers, its refusals
// and their headers. OpenAPI 3.1 as YAML and as JSON, readable without a key.

import { fastifySwagger } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { stringify } from 'yaml';
import { z } from 'zod';
import { mountOpenPath } from './calls/open-path.ts';
import { type Refusal, refusalsOf, WORDS } from './calls/refusals.ts';
import { adminRoute, type Route, takesIdempotencyKey } from './calls/route.ts';
import { CLOSED_PATHS, describeClosed } from './closed-paths.ts';
import { ProblemBody } from './schemas/problem.ts';

const ADDRESSES = ['/openapi.yaml', '/docs/openapi.yaml', '/openapi.json'];
const YAML_TYPE = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

const ABOUT = `Domains, their DNS records and the log of their changes.

Send a key as \`Authorization: Bearer svc_…\` or as \`X-Api-Key: svc_…\`; people sign in and have a session. Every success is 200 with a body. Every error has
\`error\` for people and sometimes \`code\` for programs. Members that are not set are absent. Paths are taken as written:
the final slash counts; a wrong method is 405 with \`Allow\`, an unknown query parameter 400. Lists are bare arrays: whole without \`limit\`, else a page with a \`Link\` to the next.
A POST (and a batch) may carry an \`Idempotency-Key\`: a repeat of it is answered with what the first one got.

Every call can be refused with 403 \`account_suspended\` while the account is inactive, with a session also with 503 \`session_check_failed\`: keep it, and try again.
A write by cookie from a page of another site is 403 \`foreign_origin\`. No key may use what is below \`/users\`, \`/auth\`, \`/billing\` and \`/admin\` (403).`;

const TAGS: Readonly<Record<string, string>> = {
  Domains: 'Domains, their settings and their state.',
  Records: 'The DNS records of a domain, one by one and in bulk.',
  Changes: 'The log of what was done, and taking it back.',
  Checks: 'What the parent zone says of a domain.',
  Sharing: 'Who else may see and change a domain.',
  Plans: 'What a domain may do, and until when.',
  'Signing in': 'Sessions of people, passwords and the second step.',
  'Your account': 'Who you are, your keys and your sessions.',
};

type Document = OpenAPIV3_1.Document;
type Operation = OpenAPIV3_1.OperationObject;

const ABOUT_ADMIN = `What the operators of this service do: accounts, domains of all accounts, plans, the fleet, the audit log.

Only the session of a global admin reaches it: a key gets 403, and for everybody else there is no such path (404). A write needs a password that was
given within 15 minutes (\`POST /auth/confirm\`), else it is 403 \`reauthenticate\`. Errors, lists and \`Idempotency-Key\` are as in \`/openapi.yaml\`.`;

/** What only global admins may read: customers are shown no call that they cannot make. */
const ADMIN_ADDRESS = '/admin/openapi.yaml';

const ADMIN_TAGS: Readonly<Record<string, string>> = {
  Accounts: 'Accounts, their rights, their keys, and links for their owners.',
  Domains: 'Domains of all accounts, and what only operators do to them.',
  Plans: 'What is sold, and for how much.',
  Fleet: 'Nameservers, observers, queues and the breaker.',
  Audit: 'Who did what.',
};

/** Call it before the routes are mounted, since it listens to what is mounted. */
export async function describeRoutes(app: FastifyInstance, routes: readonly Route[]): Promise<void> {
  const isAdmin = ({ access }: Route) => access.kind === 'admin';
  const shown = routes.filter((route) => !isAdmin(route));
  const schemes = { bearer: BEARER, apiKey: API_KEY, session: SESSION, vantage: VANTAGE };
  await describeSome(app, shown, {
    decorator: 'swagger',
    title: 'Zonefleet',
    about: ABOUT,
    tags: TAGS,
    security: [{ bearer: [] }, { apiKey: [] }, { session: [] }],
    schemes,
    closed: CLOSED_PATHS,
  });
  await describeSome(app, routes.filter(isAdmin), {
    decorator: 'adminSwagger',
    title: 'Zonefleet administration',
    about: ABOUT_ADMIN,
    tags: ADMIN_TAGS,
    security: [{ bearer: [] }, { session: [] }],
    schemes: { bearer: { ...BEARER, description: 'The token of a session, `ses_…`.' }, session: SESSION },
    closed: [],
  });
  // Built once and shared, so a slow reader does not hold a copy of its own.
  let yaml: Buffer | undefined;
  let json: Buffer | undefined;
  for (const url of ADDRESSES) {
    mountOpenPath(app, url, async (_request, reply) => {
      json ??= Buffer.from(JSON.stringify(app.swagger()));
      if (url.endsWith('.json')) return reply.header('Content-Type', JSON_TYPE).send(json);
      yaml ??= yamlOf(json);
      return reply.header('Content-Type', YAML_TYPE).send(yaml);
    });
  }
  let ofAdmins: Buffer | undefined;
  app.get(ADMIN_ADDRESS, { config: { route: ADMIN_DOCUMENT } }, async (_request, reply) => {
    const { adminSwagger } = app as unknown as { adminSwagger: () => object };
    ofAdmins ??= yamlOf(Buffer.from(JSON.stringify(adminSwagger())));
    return reply.header('Content-Type', YAML_TYPE).send(ofAdmins);
  });
}

/** Its guards are those of the routes; it describes them, and not itself. */
const ADMIN_DOCUMENT = adminRoute({
  method: 'GET',
  path: ADMIN_ADDRESS,
  operationId: 'adminDescription',
  tag: 'Audit',
  summary: 'The description of this surface.',
  response: z.string(),
  run: () => '',
});

function yamlOf(json: Buffer): Buffer {
  return Buffer.from(
    stringify(JSON.parse(json.toString()), { aliasDuplicateObjects: false, lineWidth: 110 }),
  );
}

const BEARER = {
  type: 'http',
  scheme: 'bearer',
  description: 'An API key, `svc_…`, or the token of a session, `ses_…`.',
} as const;
const API_KEY = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Api-Key',
  description: 'An API key, `svc_…`.',
} as const;
const SESSION = {
  type: 'apiKey',
  in: 'cookie',
  name: '__Host-session',
  description: 'The session of a browser. Writes need the `Origin` of the service.',
} as const;
const VANTAGE = {
  type: 'apiKey',
  in: 'header',
  name: 'X-Vantage-Signature',
  description:
    'For observers: an Ed25519 signature in base64, with `X-Vantage-Name`, `-Time`, `-Nonce` and `-Digest`, as docs/api.md "Observers" says.',
} as const;

interface Described {
  /** The name under which the plugin gives the document. */
  readonly decorator: 'swagger' | 'adminSwagger';
  readonly title: string;
  readonly about: string;
  readonly tags: Readonly<Record<string, string>>;
  readonly security: OpenAPIV3_1.SecurityRequirementObject[];
  readonly schemes: Readonly<Record<string, OpenAPIV3_1.SecuritySchemeObject>>;
  readonly closed: typeof CLOSED_PATHS;
}

/** A document of some of the routes. */
async function describeSome(
  app: FastifyInstance,
  routes: readonly Route[],
  { decorator, title, about, tags, security, schemes, closed }: Described,
): Promise<void> {
  const paths = new Set(routes.map(({ method, path }) => `${method} ${path}`));
  await app.register(fastifySwagger, {
    decorator: decorator as 'swagger',
    openapi: {
      openapi: '3.1.0',
      info: {
        title,
        version: '1.0.0',
        license: { name: 'MIT', identifier: 'MIT' },
        description: about.replaceAll(/(?<!\n)\n(?!\n)/g, ' '),
      },
      servers: [{ url: '/' }],
      security,
      components: { securitySchemes: { ...schemes } },
      tags: [...new Set(routes.map(({ tag }) => tag))].map((name) => ({
        name,
        description: tags[name] ?? name,
      })),
    },
    // biome-ignore lint/suspicious/noExplicitAny: the plugin's type knows no schema but its own
    transform: ({ schema, url, route, ...rest }: any) => {
      const declared: Route | undefined = route.config?.route;
      const isHere = declared !== undefined && paths.has(`${declared.method} ${declared.path}`);
      if (!isHere || declared.method === 'OPTIONS') return { schema: { hide: true }, url };
      return jsonSchemaTransform({ ...rest, route, url, schema: describedSchema(declared, schema) });
    },
    transformObject: (input) =>
      finish(jsonSchemaTransformObject(input) as unknown as Document, routes, closed) as never,
  });
}

function describedSchema(route: Route, schema: object): object {
  const params = {
    ...(route.path.includes('{domain}') ? { domain: DOMAIN_PARAMETER } : {}),
    ...route.params?.shape,
  };
  return {
    ...schema,
    // a body without required members is optional
    ...(route.body === undefined ? { body: undefined } : {}),
    ...(Object.keys(params).length > 0 ? { params: z.object(params) } : {}),
    ...(takesIdempotencyKey(route) ? { headers: IDEMPOTENCY_HEADERS } : {}),
    ...securityOf(route),
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
  };
}

/** What differs from most routes, which every credential may call. */
function securityOf({ access }: Route): { security?: Record<string, string[]>[] } {
  if (access.kind === 'public') return { security: [] };
  if (access.kind === 'vantage') return { security: [{ vantage: [] }] };
  return access.kind === 'session' || access.kind === 'admin'
    ? { security: [{ bearer: [] }, { session: [] }] }
    : {};
}

const DOMAIN_PARAMETER = z
  .string()
  .describe(
    'The domain by its name (any case, Unicode or A-labels, with or without the final dot) or by its numeric `id`. A name means your own domain first, then one that is shared with you; for global admins the one that is answered, then the oldest.',
  );

const IDEMPOTENCY_HEADERS = z.object({
  'Idempotency-Key': z
    .string()
    .max(191)
    .optional()
    .describe(
      'Makes the call happen once: a repeat gets the first answer. Counts for the account, for ever.',
    ),
});

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
  Link: { description: 'The next page: `rel="next"`. Absent on the last.', schema: { type: 'string' } },
  'X-Total-Count': { description: 'With `count=true`: all items there are.', schema: { type: 'integer' } },
  'Content-Disposition': { description: 'A name for the file.', schema: { type: 'string' } },
  'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
};

function headers(names: readonly string[]): Record<string, OpenAPIV3_1.ReferenceObject> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

const RATE_HEADERS = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'];

function finish(document: Document, routes: readonly Route[], closedPaths: typeof CLOSED_PATHS): Document {
  for (const route of routes) {
    const operation = (document.paths?.[route.path] as Record<string, Operation> | undefined)?.[
      route.method.toLowerCase()
    ];
    if (operation === undefined) throw new Error(`${route.method} ${route.path} is not described`);
    if (operation.requestBody !== undefined && route.body?.safeParse(undefined).success === true) {
      (operation.requestBody as OpenAPIV3_1.RequestBodyObject).required = false;
    }
    if (route.textBody !== undefined) {
      const { content } = operation.requestBody as OpenAPIV3_1.RequestBodyObject;
      content['text/plain'] = { schema: { type: 'string', description: `As \`${route.textBody}\`.` } };
    }
    const isCounted = route.access.kind !== 'public' && route.access.kind !== 'vantage';
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
      describeRefusal({ status, words: words || WORDS[status] || '', codes: [] }, true),
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

/**
 * Tidies the schemas. Each is there twice, as it is sent (`…Input`) and as it is answered: those without a reference
 * are left out, and one that is only sent gets its plain name.
 */
function tidySchemas(document: Document): Document {
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
  return JSON.parse(text) as Document;
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
