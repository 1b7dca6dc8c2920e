// Paths that anyone may read without authentication and that are not described (health, metrics, the OpenAPI
// documents), and paths with a secret, which logs and stored responses must not show.

import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';

/** Returns the methods that OPTIONS lists: the given ones, HEAD if there is a GET, and OPTIONS. */
export function allowedMethods(methods: readonly string[]): string[] {
  return [...methods, ...(methods.includes('GET') ? ['HEAD'] : []), 'OPTIONS'].sort();
}

/** Mounts a path that anyone may read without authentication. As on every path, OPTIONS lists its methods. */
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

/** Matched after the same decoding as in the router, so that other spellings are hidden too. */
const INVITE = /^((?:\/reseller\/v1)?\/invites\/)([^/]+)/i;

/** Replaces the secret of an invite in a path. The router accepted `url`, so its escapes can be decoded. */
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

/** Replaces the secret by its digest, which still distinguishes different calls. */
export function digestSecret(url: string): string {
  return replaceSecret(url, (secret) => createHash('sha256').update(secret).digest('hex'));
}
