// A path beside the declared routes that answers everybody, without a key, and is not part of the description: health,
// metrics, the description itself. As on every path that exists, OPTIONS tells its methods.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** What OPTIONS answers; `methods` are those of the path but for HEAD and OPTIONS, which follow from them. */
export function allowedMethods(methods: readonly string[]): string[] {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
}

export function mountOpenPath(
  app: FastifyInstance,
  url: string,
  get: (request: FastifyRequest, reply: FastifyReply) => Promise<unknown>,
): void {
  const config = { openTo: 'everyone' } as const;
  const methods = allowedMethods(['GET']);
  app.get(url, { config }, get);
  app.options(url, { config }, async (_request, reply) => {
    return reply.header('Allow', methods.join(', ')).send({ methods });
  });
}
