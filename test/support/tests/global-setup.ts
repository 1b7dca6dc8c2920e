// Starts the Postgres server of a project's test files once: the embedded one or, for the project `postgres-15`, Debian's.
// It has a migrated template database, from which a test's own database is created in about 30 ms.

import type { TestProject } from 'vitest/node';
import type { TestServer } from '../database/database.ts';
import { startServer } from '../database/start-server.ts';

declare module 'vitest' {
  interface ProvidedContext {
    postgresServer: TestServer;
  }
}

/** Projects with the same server share it, because Vitest sets all of them up in one process. */
const shared = globalThis as { zonefleetTestServers?: Map<string, SharedServer> };

interface SharedServer {
  users: number;
  readonly started: Promise<{ readonly url: string; stop(): Promise<void> }>;
}

export default async function shareServer(project: TestProject): Promise<() => Promise<void>> {
  const kind = project.name === 'postgres-15' ? 'debian' : 'embedded';
  shared.zonefleetTestServers ??= new Map();
  const server = shared.zonefleetTestServers.get(kind) ?? { users: 0, started: startServer(kind) };
  shared.zonefleetTestServers.set(kind, server);
  server.users++;
  const { url, stop } = await server.started;
  project.provide('postgresServer', { name: kind === 'debian' ? 'Postgres 15' : 'Postgres 18', url });
  return async () => {
    if (--server.users === 0) await stop();
  };
}
