// The description of the API, made from the schemas that validate requests: every route with its answers, its refusals
// and their headers. OpenAPI 3.1 as YAML and as JSON, readable without a key.

import type { FastifyInstance } from 'fastify';
import { stringify } from 'yaml';
import { z } from 'zod';
import { mountOpenPath } from '../calls/open-path.ts';
import { admin, type Route, route } from '../calls/route.ts';
import { describeSurface } from './describe-surface.ts';
import { ADMIN_DOCUMENT, CUSTOMER_DOCUMENT, EDGE_DOCUMENT } from './documents.ts';

const ADDRESSES = ['/openapi.yaml', '/docs/openapi.yaml', '/openapi.json'];
const YAML_TYPE = 'application/yaml; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

/** Of what edge nodes call; readable by everyone. */
const EDGE_ADDRESS = '/edge/v1/openapi.yaml';
/** What only global admins may read. */
const ADMIN_ADDRESS = '/admin/openapi.yaml';

/** Call it before the routes are mounted, since it listens to what is mounted. */
export async function describeRoutes(
  app: FastifyInstance,
  routes: readonly Route[],
  edgeRoutes: readonly Route[] = [],
): Promise<void> {
  const isAdmin = ({ access }: Route) => access.kind === 'admin';
  await describeSurface(
    app,
    routes.filter((route) => !isAdmin(route)),
    CUSTOMER_DOCUMENT,
  );
  await describeSurface(app, routes.filter(isAdmin), ADMIN_DOCUMENT);
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
