// How a file that the process keeps in memory is sent: compressed for those who take it, not at all to those who have it.

import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ConsoleFile } from './console-files.ts';

/** Of all that belongs to the console. */
export const SAFE_HEADERS = {
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** `sharing`: whether caches on the way may keep it too. */
export function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, policy, sharing }: { file: ConsoleFile; policy: string; sharing: 'public' | 'private' },
): FastifyReply {
  reply.headers({
    'Content-Security-Policy': policy,
    'Cache-Control': file.isHashed ? `${sharing}, max-age=31536000, immutable` : 'no-cache',
    ETag: file.tag,
    Vary: 'Accept-Encoding',
  });
  if (request.headers['if-none-match'] === file.tag) return reply.code(304).send();
  const isZipped = /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
  if (isZipped) reply.header('Content-Encoding', 'gzip');
  return reply.header('Content-Type', file.type).send(isZipped ? file.gzip : file.bytes);
}
