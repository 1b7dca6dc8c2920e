// The queues' board for a browser on this machine: what waits, what runs, what failed and why. It changes nothing.

import { createBullBoard } from '@bull-board/api';
import { BullMQAdapter } from '@bull-board/api/bullMQAdapter';
import { FastifyAdapter } from '@bull-board/fastify';
import Fastify from 'fastify';
import { ANSWER_HEADERS } from '../src/process/answer-headers.ts';
import { createBoundedServer } from '../src/process/bounded-server.ts';
import type { ListenAddress } from '../src/process/listen-address.ts';
import { HEALTH_LIMITS } from '../src/process/listen-health.ts';

export interface Board {
  readonly address: ListenAddress;
  close(): Promise<void>;
}

const POLICY = "default-src 'self' 'unsafe-inline' data:";

/** Rejects when it cannot listen on the address. */
export async function listenBoard(
  { address: host, port }: ListenAddress,
  queues: readonly { readonly queue: unknown }[],
): Promise<Board> {
  const adapter = new FastifyAdapter();
  createBullBoard({
    queues: queues.map(
      ({ queue }) => new BullMQAdapter(queue as never, { readOnlyMode: true, allowRetries: false }),
    ),
    serverAdapter: adapter,
    options: { uiConfig: { boardTitle: 'Zonefleet' } },
  });
  const app = Fastify({
    forceCloseConnections: true,
    serverFactory: (handler) => createBoundedServer(HEALTH_LIMITS, handler),
  });
  // A foreign page whose name resolves to this machine sends that name as Host (DNS rebinding).
  app.addHook('onRequest', async (request, reply) => {
    if (!isLoopback(request.headers.host ?? '')) return reply.code(403).send({ error: 'ask for localhost' });
  });
  // The board's page refers to fonts on the internet: allow this origin only.
  app.addHook('onSend', async (_, reply) => {
    reply.headers({ ...ANSWER_HEADERS, 'Content-Security-Policy': POLICY });
  });
  await app.register(adapter.registerPlugin());
  await app.listen({ host, port, exclusive: true });
  const bound = app.addresses()[0] as ListenAddress;
  return { address: { address: bound.address, port: bound.port }, close: () => app.close() };
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d{1,5})?$/i.test(host);
}
