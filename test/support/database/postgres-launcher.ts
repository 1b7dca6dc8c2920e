// A process of its own that starts Postgres on the directory it is told, says so on standard output, and waits to be
// killed: for what a launcher leaves behind.

import { startPostgres } from '../../../src/start/postgres/postgres.ts';

try {
  const { url, pid } = await startPostgres({
    directory: process.argv[2] as string,
    parameters: { fsync: 'off' }, // after a kill of the process, the kernel still has its writes
  });
  process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`);
  process.exit(1);
}
