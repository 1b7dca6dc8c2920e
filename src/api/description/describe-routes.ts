// Describes the API from the schemas that validate requests: every route with its responses, its problems and their headers.
// OpenAPI 3.1 as YAML and as JSON, readable without a key.

import { fastifySwagger } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { stringify } from 'yaml';
import { z } from 'zod';
import { mountOpenPath } from '../calls/paths.ts';
import { admin, type Route, route, takesIdempotencyKey } from '../calls/route.ts';
import { isResellerPath } from '../calls/surfaces.ts';
import { idText } from '../schemas/fields.ts';
import { ADMIN_DOCUMENT, CUSTOMER_DOCUMENT, type DescribedSurface, EDGE_DOCUMENT } from './documents.ts';
import { finishDocument } from './finish-document.ts';

/** A document of some of the routes. */
async function describeSurface(
  app: FastifyInstance,
  routes: readonly Route[],
  { decorator, title, about, tags, security, schemes, closed }: DescribedSurface,
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
      finishDocument(
        jsonSchemaTransformObject(input) as unknown as OpenAPIV3_1.Document,
        routes,
        closed,
      ) as never,
  });
}

function describedSchema(route: Route, schema: object): object {
  const params = {
    ...(route.path.includes('{domain}') ? { domain: DOMAIN_PARAMETER } : {}),
    ...(route.path.includes('{domainId}') ? { domainId: idText } : {}),
    ...(route.path.includes('{serviceId}') ? { serviceId: idText } : {}),
    ...route.params?.shape,
  };
  return {
    ...schema,
    // a body without required members is optional
    ...(route.body === undefined ? { body: undefined } : {}),
    ...(Object.keys(params).length > 0 ? { params: z.object(params) } : {}),
    ...(takesIdempotencyKey(route) ? { headers: idempotencyHeaders(route) } : {}),
    ...securityOf(route),
    operationId: route.operationId,
    tags: [route.tag],
    summary: route.summary,
    ...(route.description === undefined ? {} : { description: route.description }),
  };
}

/** What differs from most routes, which every credential may call. */
function securityOf({ access, path }: Route): { security?: Record<string, string[]>[] } {
  if (isResellerPath(path)) return { security: [{ bearer: [] }] };
  if (access.kind === 'public') return { security: [] };
  if (access.kind === 'vantage') return { security: [{ vantage: [] }] };
  if (access.kind === 'gateway') return { security: [{ gateway: [] }] };
  if (access.kind === 'edge') return { security: [{ bearer: [] }] };
  return access.kind === 'session' || access.kind === 'admin'
    ? { security: [{ bearer: [] }, { session: [] }] }
    : {};
}

const DOMAIN_PARAMETER = z
  .string()
  .describe(
    'The name of the domain (any case, Unicode or A-labels, with or without the final dot). A name means your own domain first, then one that is shared with you; for global admins the one that is answered, then the oldest. Only global admins may use the numeric `id` instead.',
  );

const KEY = z.string().max(191);
const ONCE = 'Makes the call happen once: a repeat gets the first answer.';

function idempotencyHeaders({ idempotent, keptForEver }: Route) {
  const told = KEY.describe(
    `${ONCE} Counts for the account, ${keptForEver === true ? 'for ever' : 'for 30 days'}.`,
  );
  return z.object({ 'Idempotency-Key': idempotent === 'required' ? told : told.optional() });
}

const ADDRESSES = ['/openapi.yaml', '/docs/openapi.yaml', '/openapi.json'];
const YAML_TYPE = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Of what edge nodes call; readable by everyone. */
const EDGE_ADDRESS = '/edge/v1/openapi.yaml';
/** What only global admins may read. */
const ADMIN_ADDRESS = '/admin/openapi.yaml';

interface Described {
  readonly routes: readonly Route[];
  readonly edgeRoutes?: readonly Route[];
  /** Descriptions of the tags of features, for customers and for global admins. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly adminTags?: Readonly<Record<string, string>>;
}

function withTags(surface: DescribedSurface, tags: Readonly<Record<string, string>>): DescribedSurface {
  return { ...surface, tags: { ...surface.tags, ...tags } };
}

/** Call it before the routes are mounted, since it listens to what is mounted. */
export async function describeRoutes(
  app: FastifyInstance,
  { routes, edgeRoutes = [], tags = {}, adminTags = {} }: Described,
): Promise<void> {
  const isAdmin = ({ access }: Route) => access.kind === 'admin';
  await describeSurface(
    app,
    routes.filter((route) => !isAdmin(route)),
    withTags(CUSTOMER_DOCUMENT, tags),
  );
  await describeSurface(app, routes.filter(isAdmin), withTags(ADMIN_DOCUMENT, adminTags));
  await describeSurface(app, edgeRoutes, EDGE_DOCUMENT);
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
  let ofEdges: Buffer | undefined;
  mountOpenPath(app, EDGE_ADDRESS, async (_request, reply) => {
    const { edgeSwagger } = app as unknown as { edgeSwagger: () => object };
    ofEdges ??= yamlOf(Buffer.from(JSON.stringify(edgeSwagger())));
    return reply.header('Content-Type', YAML_TYPE).send(ofEdges);
  });
  let ofAdmins: Buffer | undefined;
  app.get(ADMIN_ADDRESS, { config: { route: ADMIN_ADDRESS_ROUTE } }, async (_request, reply) => {
    const { adminSwagger } = app as unknown as { adminSwagger: () => object };
    ofAdmins ??= yamlOf(Buffer.from(JSON.stringify(adminSwagger())));
    return reply.header('Content-Type', YAML_TYPE).send(ofAdmins);
  });
}

/** Gives the address the guards of admin routes. It is not part of the description. */
const ADMIN_ADDRESS_ROUTE = route(admin, {
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
