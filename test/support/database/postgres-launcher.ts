// Starts Postgres on the given directory in a separate process, reports it on standard output, and waits to be killed,
// for tests of what a launcher leaves behind.

import { startPostgres } from '../../../src/start/postgres/postgres.ts';

try {
  const { url, pid } = await startPostgres({
    directory: process.argv[2] as string,
    parameters: { fsync: 'off' }, // the kernel keeps the writes of a killed process
  });
  process.stdout.write(`${JSON.stringify({ url, pid })}\n`);
  setInterval(() => {}, 60_000);
} catch (error) {
  process.stdout.write(`${JSON.stringify({ error: (error as Error).message })}\n`);
  process.exit(1);
}
