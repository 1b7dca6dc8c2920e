// Keeps the built files of the console in memory, compressed once when the process starts. Sends them compressed if
// the client accepts that, and responds 304 if the client has them. Until the console is built, there are no files.

import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { extname, join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

const compress = promisify(gzip);

const MOST_FILES = 500;
const MOST_BYTES = 20 * 1024 * 1024;
/** Interval at which the folder is checked while it does not exist. */
const CHECK_EVERY_MS = 500;
/** Delay after a read error. Reading takes time, and anyone may send requests. */
const RETRY_MS = 30_000;

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml; charset=utf-8',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
  '.ico': 'image/x-icon',
  '.json': 'application/json; charset=utf-8',
};

export interface ConsoleFile {
  readonly type: string;
  readonly bytes: Buffer;
  readonly gzip: Buffer;
  readonly tag: string;
  /** True if the file name changes with the content. */
  readonly isHashed: boolean;
}

type Files = ReadonlyMap<string, ConsoleFile>;

export class ConsoleFiles {
  readonly #folder: string;
  #found: Promise<Files | undefined> = Promise.resolve(undefined);
  #nextReadMs = Number.NEGATIVE_INFINITY;

  /** Starts to read immediately. */
  constructor(folder: string) {
    this.#folder = folder;
    this.all().catch(() => {}); // callers of all() receive the error
  }

  /** By path: `index.html`, `assets/…`. Undefined if they do not exist yet. Rejects if they cannot be read. */
  all(): Promise<Files | undefined> {
    if (performance.now() >= this.#nextReadMs) {
      this.#nextReadMs = Number.POSITIVE_INFINITY;
      this.#found = this.#read();
    }
    return this.#found;
  }

  async #read(): Promise<Files | undefined> {
    let pauseMs = RETRY_MS;
    try {
      const isThere = existsSync(join(this.#folder, 'index.html'));
      const files = isThere ? await readFiles(this.#folder) : undefined;
      pauseMs = isThere ? Number.POSITIVE_INFINITY : CHECK_EVERY_MS;
      return files;
    } finally {
      this.#nextReadMs = performance.now() + pauseMs;
    }
  }
}

/** Reads one file at a time, so that libuv's other threads remain available. */
async function readFiles(folder: string): Promise<Files> {
  const files = new Map<string, ConsoleFile>();
  let bytesInAll = 0;
  for (const path of await readdir(folder, { recursive: true })) {
    const type = typeOf(path);
    const full = join(folder, path);
    if (type === undefined) continue;
    const found = await stat(full);
    if (!found.isFile()) continue;
    bytesInAll += found.size;
    if (files.size === MOST_FILES || bytesInAll > MOST_BYTES)
      throw new Error(`${folder} is too large for a built console`);
    const bytes = await readFile(full);
    files.set(path, {
      ...fileOf(bytes, await compress(bytes, { level: 9 }), type),
      isHashed: path.startsWith('assets/'),
    });
  }
  return files;
}

/** Returns undefined if no page uses files of this type. */
export function typeOf(path: string): string | undefined {
  return TYPES[extname(path)];
}

/** Builds a file whose name stays the same when its content changes. */
export function fileOf(bytes: Buffer, gzip: Buffer, type: string): ConsoleFile {
  const tag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { type, bytes, gzip, tag, isHashed: false };
}

/** Headers of all responses of the console. */
export const SAFE_HEADERS = {
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex, nofollow',
  'X-Frame-Options': 'DENY',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

/** `sharing` determines whether shared caches may store the file. */
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
