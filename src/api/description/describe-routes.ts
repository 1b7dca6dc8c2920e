// Builds the OpenAPI 3.1 documents from the schemas that validate requests. They describe every route with its
// responses, problems and headers. The customer document is served as YAML and JSON without authentication.

import { fastifySwagger } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { stringify } from 'yaml';
import { z } from 'zod';
import { readBuild } from '../../process/build.ts';
import { mountOpenPath } from '../calls/paths.ts';
import { admin, type Route, route, takesIdempotencyKey } from '../calls/route.ts';
import { isResellerPath } from '../calls/surfaces.ts';
import { idText } from '../schemas/fields.ts';
import { ADMIN_DOCUMENT, CUSTOMER_DOCUMENT, type DescribedSurface, EDGE_DOCUMENT } from './documents.ts';
import { finishDocument } from './finish-document.ts';

/** Registers one document that describes the given routes. */
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
        version: readBuild().version,
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

/** Returns the security requirement of a route, or nothing if the route accepts every credential. */
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
    'The name of the domain, in any case, as Unicode or A-labels, with or without the final dot. If several domains have this name, your own domain comes first, then one that is shared with you. Global admins get the domain that is answered, otherwise the oldest. Only global admins may use the numeric `id` instead.',
  );

const KEY = z.string().max(191);
const ONCE = 'Repeating the call with the same key returns the first response and has no further effect.';

function idempotencyHeaders({ idempotent, keptForEver }: Route) {
  const description = KEY.describe(
    `${ONCE} The key is valid within the account, ${keptForEver === true ? 'permanently' : 'for 30 days'}.`,
  );
  return z.object({ 'Idempotency-Key': idempotent === 'required' ? description : description.optional() });
}

const ADDRESSES = ['/openapi.yaml', '/docs/openapi.yaml', '/openapi.json'];
const YAML_TYPE = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Path of the document about the routes that edges call. Anyone may read it. */
const EDGE_ADDRESS = '/edge/v1/openapi.yaml';
/** Path of the document that only global admins may read. */
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

/** Must run before the routes are mounted, because the plugin registers each route when it is mounted. */
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
  // Each document is built once and shared, so that a slow reader does not hold its own copy.
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
  let edgeYaml: Buffer | undefined;
  mountOpenPath(app, EDGE_ADDRESS, async (_request, reply) => {
    const { edgeSwagger } = app as unknown as { edgeSwagger: () => object };
    edgeYaml ??= yamlOf(Buffer.from(JSON.stringify(edgeSwagger())));
    return reply.header('Content-Type', YAML_TYPE).send(edgeYaml);
  });
  let adminYaml: Buffer | undefined;
  app.get(ADMIN_ADDRESS, { config: { route: ADMIN_ADDRESS_ROUTE } }, async (_request, reply) => {
    const { adminSwagger } = app as unknown as { adminSwagger: () => object };
    adminYaml ??= yamlOf(Buffer.from(JSON.stringify(adminSwagger())));
    return reply.header('Content-Type', YAML_TYPE).send(adminYaml);
  });
}

/** Applies the checks of admin routes to this path. The route itself is not described. */
const ADMIN_ADDRESS_ROUTE = route(admin, {
  method: 'GET',
  path: ADMIN_ADDRESS,
  operationId: 'adminDescription',
  tag: 'Audit',
  summary: 'Returns the OpenAPI document of the administration API.',
  response: z.string(),
  run: () => '',
});

function yamlOf(json: Buffer): Buffer {
  return Buffer.from(
    stringify(JSON.parse(json.toString()), { aliasDuplicateObjects: false, lineWidth: 110 }),
  );
}
