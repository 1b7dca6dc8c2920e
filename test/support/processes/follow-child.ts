// A following node in a separate process, so that a test can kill it. Started with fork: the argument has the options as
// JSON, and its contents are queried over IPC.

import { openDatabase } from '../../../src/store/postgres/database.ts';
import { differences, follow } from './follow.ts';

export type ChildAnswer = { loaded: boolean; differences: string[] };

const options = JSON.parse(process.argv[2] ?? '{}') as { databaseUrl: string; nodeName: string };
const node = await follow(options);

process.on('message', async (databaseUrl: string) => {
  const db = openDatabase(databaseUrl, { maxConnections: 1 });
  const found = await differences(node, db).catch((error: Error) => [error.message]);
  await db.destroy();
  process.send?.({ loaded: node.state().loaded, differences: found } satisfies ChildAnswer);
});
process.on('disconnect', () => process.exit(0));
