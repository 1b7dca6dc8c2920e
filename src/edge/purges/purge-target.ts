// What a purge takes out of the caches of edges, read from what a customer sends. All of it lies within the customer's domain.

/** Hosts are in lower case, without port. A path begins with `/`; a query has no `?`. */
export type PurgeTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'host'; readonly host: string }
  /** Every path that begins with `path`, with any query. */
  | { readonly kind: 'prefix'; readonly host: string; readonly path: string }
  | {
      readonly kind: 'url';
      readonly host: string;
      readonly path: string;
      readonly query: string;
      /** The edge fetches it anew when it has taken it out. */
      readonly refresh?: true;
    }
  /** One row of the cache registry, as its edge has named it. */
  | { readonly kind: 'stored'; readonly hostname: string; readonly store_path: string };

interface PurgeWish {
  readonly host?: string | undefined;
  readonly url?: string | undefined;
  readonly prefix?: string | undefined;
  readonly hostname?: string | undefined;
  readonly store_path?: string | undefined;
}

interface PurgeProblem {
  readonly field: string;
  readonly error: string;
}

const FIELDS = ['host', 'url', 'prefix', 'hostname'] as const;
const HOST = /^(?:\*\.)?[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** `domain`: without the final dot. An empty wish is everything. */
export function readPurgeTarget(domain: string, wish: PurgeWish): PurgeTarget | { problem: PurgeProblem } {
  const fields = FIELDS.filter((field) => wish[field] !== undefined);
  if (wish.store_path !== undefined && wish.hostname === undefined)
    return wrong('hostname', 'expected beside store_path, as a row of cache/keys has both');
  if (wish.hostname !== undefined && wish.store_path === undefined)
    return wrong('store_path', 'expected beside hostname, as a row of cache/keys has both');
  const [field, other] = fields;
  if (field === undefined) return { kind: 'all' };
  if (other !== undefined) return wrong(other, `only one of ${fields.join(', ')} can be given`);
  const text = wish[field] as string;
  if (field === 'host' || field === 'hostname') {
    const host = readHost(text);
    if (host === undefined) return wrong(field, 'expected the name of a host, without scheme, port and path');
    if (!isWithin(host, domain)) return wrong(field, foreign(host, domain));
    if (field === 'host') return { kind: 'host', host };
    return { kind: 'stored', hostname: host, store_path: wish.store_path as string };
  }
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    return wrong(field, 'expected a whole URL that begins with http:// or https://');
  const { hostname, pathname, search, hash, username, password } = new URL(text);
  if (username !== '' || password !== '' || hash !== '')
    return wrong(field, 'a URL with a user, a password or a fragment is in no cache');
  const host = hostname.replace(/\.$/, '');
  if (!isWithin(host, domain)) return wrong(field, foreign(host, domain));
  if (field === 'url') return { kind: 'url', host, path: pathname, query: search.slice(1) };
  if (search !== '') return wrong(field, 'a prefix has no query: it takes paths with any query');
  return { kind: 'prefix', host, path: pathname };
}

/** In lower case, as A-labels. */
function readHost(text: string): string | undefined {
  const [, star = '', name = ''] = /^(\*\.)?([^\s/:?#@%*\\[\]]+)$/.exec(text) ?? [];
  if (name === '' || !URL.canParse(`http://${name}/`)) return undefined;
  const host = star + new URL(`http://${name}/`).hostname.replace(/\.$/, '');
  return HOST.test(host) ? host : undefined;
}

function wrong(field: string, error: string): { problem: PurgeProblem } {
  return { problem: { field, error } };
}

function foreign(host: string, domain: string): string {
  return `${host.slice(0, 255)} does not belong to the domain ${domain}`;
}

function isWithin(host: string, domain: string): boolean {
  return host === domain || host.endsWith(`.${domain}`);
}
