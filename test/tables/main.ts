// `npm run tables`: writes the types of the tables, after a change of the schema.

import { writeFileSync } from 'node:fs';
import { openDatabase } from '../../src/store/postgres/database.ts';
import { databaseUrl, TEMPLATE_DATABASE } from '../support/database/database.ts';
import { generateTables, TABLES_FILE } from '../support/database/generate-tables.ts';
import { startServer } from '../support/database/start-server.ts';

const server = await startServer('embedded');
try {
  const db = openDatabase(databaseUrl(server, TEMPLATE_DATABASE));
  writeFileSync(TABLES_FILE, await generateTables(db));
  await db.destroy();
} finally {
  await server.stop();
}
