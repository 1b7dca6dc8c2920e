// @ts-check
// Parses the header of a file in nginx's cache: numbers in native byte order, then the key, then the response.

import { open } from 'node:fs/promises';

/** Header of nginx 1.22 on 64-bit machines (`ngx_http_file_cache_header_t`). Other versions are not supported. */
const VERSION = 5n;
const VALID_SEC = 8;
const HEADER_START = 54;
const NUMBERS = 58;
const KEY = '\nKEY: ';
/** nginx limits the longest parts of a key, the path and the query. */
const HEAD_BYTES = 32 * 1024;

/**
 * @typedef {{ scheme: string, host: string, method: string, path: string, rest: string[], key: string,
 *   size: number, cachedMs: number, expiresMs: number }} FileEntry
 */

/** @param {string} file @returns {Promise<FileEntry | undefined>} undefined if it was deleted or has another format */
export async function readEntry(file) {
  const opened = await open(file).catch(() => undefined);
  if (opened === undefined) return undefined;
  try {
    const { size, mtimeMs } = await opened.stat();
    const { buffer, bytesRead } = await opened.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
    if (bytesRead < NUMBERS || buffer.readBigUInt64LE(0) !== VERSION) return undefined;
    const end = buffer.readUInt16LE(HEADER_START);
    const begin = buffer.indexOf(KEY);
    if (begin < 0 || begin + KEY.length >= end || end > bytesRead) return undefined;
    // Key format of ../nginx/cache.mjs: scheme and host, method, target, path, then everything else that distinguishes responses.
    const key = buffer.toString('latin1', begin + KEY.length, end - 1);
    const [origin = '', method = '', , path = '', ...rest] = key.split('\n');
    const [, scheme = '', host = ''] = /^(\w+):\/\/(.*)$/.exec(origin) ?? [];
    const expiresMs = Number(buffer.readBigInt64LE(VALID_SEC)) * 1000;
    return { scheme, host, method, path, rest, key, size, cachedMs: mtimeMs, expiresMs };
  } finally {
    await opened.close();
  }
}
