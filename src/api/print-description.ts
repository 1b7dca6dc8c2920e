// Writes the OpenAPI documents for customers and global admins as files, without a database. The types of the
// console's API client are generated from them.
//   node src/start/run.mjs src/api/print-description.ts FOLDER

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { TAGS } from '../features/every-feature.ts';
import { ROUTES } from '../features/every-route.ts';
import { openDatabase } from '../store/postgres/database.ts';
import type { Api } from './calls/call.ts';
import { describeRoutes } from './description/describe-routes.ts';
import { createServer } from './http/server.ts';

const [folder = '.'] = process.argv.slice(2);
/** Routes are mounted but never called, so nothing connects to it. */
const db = openDatabase('postgres://localhost/nothing');
const app = await createServer({
  api: { db, payments: { gateways: new Map() } } as unknown as Api,
  routes: ROUTES,
  rateLimit: undefined,
  log: pino({ enabled: false }),
  prepare: (server) => describeRoutes(server, { routes: ROUTES, ...TAGS }),
});
await app.ready();
const { adminSwagger } = app as unknown as { adminSwagger: () => object };
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'openapi.json'), JSON.stringify(app.swagger()));
writeFileSync(join(folder, 'admin-openapi.json'), JSON.stringify(adminSwagger()));
await app.close();
await db.destroy();
