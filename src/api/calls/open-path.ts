// A path besides the declared routes that answers everyone without a key, and is not in the description: health,
// metrics, the description itself. As on every existing path, OPTIONS lists its methods.

import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** The answer to OPTIONS; `methods` are those of the path except HEAD and OPTIONS, which follow from them. */
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
