// Paths that answer everyone without a key and are not in the description (health, metrics, the description itself), and paths
// that contain a secret, which logs and stored responses must not show.

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Returns the methods that OPTIONS lists: those given, HEAD if there is a GET, and OPTIONS. */
export function allowedMethods(methods: readonly string[]): string[] {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
}

/** Mounts a path that answers everyone without a key. As on every path, OPTIONS lists its methods. */
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

/** Matched after decoding, as the router decodes, so that another spelling is hidden too. */
const INVITE = /^((?:\/reseller\/v1)?\/invites\/)([^/]+)/i;

/** The router accepts `url`, so its escapes can be decoded. */
function replaceSecret(url: string, replace: (secret: string) => string): string {
  const path = url.split(/[?#]/, 1)[0] as string;
  const decoded = decodeURI(path);
  if (!INVITE.test(decoded)) return url;
  const hidden = decoded.replace(INVITE, (_, before: string, secret: string) => before + replace(secret));
  return hidden + url.slice(path.length);
}

/** Replaces the secret for log lines and errors. */
export function hideSecret(url: string): string {
  return replaceSecret(url, () => '***');
}

/** Replaces the secret by its digest, which distinguishes one call from another. */
export function digestSecret(url: string): string {
  return replaceSecret(url, (secret) => createHash('sha256').update(secret).digest('hex'));
}
