// One document, from the routes of one surface and the schemas that validate their requests.

import { fastifySwagger } from '@fastify/swagger';
import type { FastifyInstance } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { OpenAPIV3_1 } from 'openapi-types';
import { z } from 'zod';
import { isResellerPath } from '../calls/reseller-surface.ts';
import { type Route, takesIdempotencyKey } from '../calls/route.ts';
import { idText } from '../schemas/ids.ts';
import type { DescribedSurface } from './documents.ts';
import { finishDocument } from './finish-document.ts';

/** A document of some of the routes. */
export async function describeSurface(
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
