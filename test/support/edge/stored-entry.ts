/** Returns the time this many seconds from now. */
export function at(seconds: number): string {
  return new Date(Date.now() + seconds * 1000).toISOString();
}

export function storedEntry(host: string, more: object = {}) {
  return {
    op: 'stored',
    host,
    path: '/a',
    method: 'GET',
    hostname: host,
    store_path: '/cache/a',
    key_hash: 'a',
    size: 100,
    cached_at: at(-1),
    expires_at: at(600),
    ...more,
  };
}
