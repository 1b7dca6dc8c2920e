// Stands between workers and the analytics store, and does something in the middle of one insert: before the store has it, or when it
// has it and nobody knows. That insert is never answered.

import { createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';

type When = 'before' | 'behind';

export interface StoreGate {
  /** The store's URL, by way of this gate. */
  readonly url: string;
  /** Does it once: at the next insert into the table. Resolves when it was done. */
  atInsert(table: string, when: When, act: () => void): Promise<void>;
  stop(): Promise<void>;
}

export async function startStoreGate(storeUrl: string): Promise<StoreGate> {
  const store = new URL(storeUrl);
  let armed: { readonly table: string; readonly when: When; readonly act: () => void } | undefined;
  const server = createServer((incoming, reply) => {
    const query = new URL(incoming.url ?? '/', store).searchParams.get('query') ?? '';
    const isMeant = armed !== undefined && query.startsWith(`INSERT INTO ${armed.table} `);
    const doomed = isMeant ? armed : undefined;
    if (doomed !== undefined) armed = undefined;
    if (doomed?.when === 'before') {
      doomed.act();
      return;
    }
    const { method, url, headers } = incoming;
    const outgoing = request({ host: store.hostname, port: store.port, method, path: url, headers });
    outgoing.on('error', () => reply.destroy());
    reply.on('close', () => outgoing.destroy());
    outgoing.on('response', (response) => {
      if (doomed !== undefined) {
        response.resume().on('end', () => doomed.act());
        return;
      }
      reply.writeHead(response.statusCode as number, response.headers);
      response.pipe(reply);
    });
    incoming.pipe(outgoing);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const gate = new URL(storeUrl);
  gate.port = String((server.address() as AddressInfo).port);
  return {
    url: gate.href,
    atInsert: (table, when, act) =>
      new Promise((resolve) => {
        armed = {
          table,
          when,
          act: () => {
            act();
            resolve();
          },
        };
      }),
    async stop() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}
