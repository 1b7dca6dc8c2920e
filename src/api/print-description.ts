// Writes the OpenAPI documents for customers and global admins as files, without a database. The document for customers
// includes the calls of resellers for their clients. The types of the console's API client are generated from them.
//   node src/start/run.mjs src/api/print-description.ts FOLDER

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { TAGS } from '../features/every-feature.ts';
import { RESELLER_ROUTES, ROUTES } from '../features/every-route.ts';
import { openDatabase } from '../store/postgres/database.ts';
import type { Api } from './calls/call.ts';
import { describeRoutes } from './description/describe-routes.ts';
import { createServer } from './http/server.ts';

const [folder = '.'] = process.argv.slice(2);
/** Resellers' calls for a client's domain are omitted, because they repeat those of customers. */
const routes = [...ROUTES, ...RESELLER_ROUTES.filter(({ tag }) => tag === 'Reseller')];
/** Routes are mounted but never called, so nothing connects to it. */
const db = openDatabase('postgres://localhost/nothing');
const app = await createServer({
  api: { db, payments: { gateways: new Map() } } as unknown as Api,
  routes,
  rateLimit: undefined,
  log: pino({ enabled: false }),
  prepare: (server) => describeRoutes(server, { routes, ...TAGS }),
});
await app.ready();
const { adminSwagger } = app as unknown as { adminSwagger: () => object };
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(app.swagger()));
writeFileSync(join(folder, 'admin-openapi.json'), JSON.stringify(adminSwagger()));
await app.close();
await db.destroy();
