// The built files of the console, kept in memory: there are few, they do not change while the process runs, and each is
// compressed once. Until they are built there are none.

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const MOST_FILES = 500;
const MOST_BYTES = 20 * 1024 * 1024;
/** How often the folder is looked for while it is not there. */
const LOOK_EVERY_MS = 500;

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
  /** Its name changes with what is in it. */
  readonly isHashed: boolean;
}

export class ConsoleFiles {
  readonly #folder: string;
  #files: ReadonlyMap<string, ConsoleFile> | undefined;
  #lookedAtMs = Number.NEGATIVE_INFINITY;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** By their paths: `index.html`, `assets/…`. Undefined: they are not there yet. */
  all(): ReadonlyMap<string, ConsoleFile> | undefined {
    if (this.#files !== undefined) return this.#files;
    if (performance.now() - this.#lookedAtMs < LOOK_EVERY_MS) return undefined;
    this.#lookedAtMs = performance.now();
    if (existsSync(join(this.#folder, 'index.html'))) this.#files = readFiles(this.#folder);
    return this.#files;
  }
}

function readFiles(folder: string): ReadonlyMap<string, ConsoleFile> {
  const files = new Map<string, ConsoleFile>();
  let bytesInAll = 0;
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    const type = typeOf(path);
    const full = join(folder, path);
    if (type === undefined || !statSync(full).isFile()) continue;
    const bytes = readFileSync(full);
    bytesInAll += bytes.length;
    if (files.size === MOST_FILES || bytesInAll > MOST_BYTES)
      throw new Error(`${folder} has more than a console`);
    files.set(path, {
      ...fileOf(bytes, gzipSync(bytes, { level: 9 }), type),
      isHashed: path.startsWith('assets/'),
    });
  }
  return files;
}

/** Undefined: such a file is none of a page's. */
export function typeOf(path: string): string | undefined {
  return TYPES[extname(path)];
}

/** A file whose name stays when its content changes. */
export function fileOf(bytes: Buffer, gzip: Buffer, type: string): ConsoleFile {
  const tag = `"${createHash('sha256').update(bytes).digest('base64url')}"`;
  return { type, bytes, gzip, tag, isHashed: false };
}
