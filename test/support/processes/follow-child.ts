// A following node in a process of its own, so that a test can kill it. Started with fork: argument = the options as JSON;
// asked over IPC what it holds.

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
