// The known paths and their methods. A request without a route gets a suggestion of the path that it may have meant, or the methods
// that its path has. The final slash is part of a path.

import type { FastifyInstance } from 'fastify';
import { badRequest, notFound, Problem } from '../answers/problem.ts';
import { hideSecret } from '../calls/paths.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
  /** It answers without a key. */
  readonly isOpen: boolean;
}

interface Unrouted {
  readonly problem: Problem;
  /** The path is one that answers without a key: so does this. */
  readonly isOpen: boolean;
}

export class KnownPaths {
  readonly #byUrl = new Map<string, KnownPath>();

  /** Knows all paths that are mounted from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method, config }) => {
      const known = this.#byUrl.get(url) ?? {
        pattern: patternOf(url),
        methods: new Set<string>(),
        isOpen: config?.openTo === 'everyone',
      };
      for (const each of [method].flat()) known.methods.add(each);
      this.#byUrl.set(url, known);
    });
  }

  /** Why no route takes it. `url` is as it was sent. */
  explain(method: string, url: string): Unrouted {
    const path = url.split(/[?#]/, 1)[0] as string;
    if (!isDecodable(path)) {
      const error =
        'the path cannot be read: after "%" stand two hexadecimal digits, and the octets are UTF-8';
      return { problem: badRequest(error), isOpen: false };
    }
    const known = this.#find(path);
    const otherPath = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    const other = this.#find(otherPath);
    if (known !== undefined && !other?.methods.has(method)) {
      return { problem: wrongMethod(method, known.methods), isOpen: known.isOpen };
    }
    const error = `path not found; did you mean ${hideSecret(otherPath)}?`;
    if (other === undefined) return { problem: notFound('path'), isOpen: false };
    return { problem: new Problem(404, error), isOpen: other.isOpen };
  }

  #find(path: string): KnownPath | undefined {
    for (const known of this.#byUrl.values()) if (known.pattern.test(path)) return known;
    return undefined;
  }
}

function patternOf(url: string): RegExp {
  const parts = url.split(/(:\w+|\*)/);
  const source = parts.map((part) =>
    part.startsWith(':') ? '[^/]+' : part === '*' ? '.*' : part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&'),
  );
  return new RegExp(`^${source.join('')}$`);
}

function wrongMethod(method: string, methods: ReadonlySet<string>): Problem {
  const allowed = [...methods].sort().join(', ');
  return new Problem(405, `this path does not support ${method}, only ${allowed}`, {
    headers: { Allow: allowed },
  });
}

/** Also the form with a host, of requests to a proxy (RFC 9112 §3.2.2), has a path. */
export function pathOf(url: string): string {
  return url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?#]*/i, '') || '/';
}

export function isDecodable(path: string): boolean {
  try {
    decodeURI(path);
    return true;
  } catch {
    return false;
  }
}

/** The path as far as it can be decoded: a segment that cannot be stays as it was sent. `url` is as it was sent. */
export function readablePath(url: string): string {
  const path = pathOf(url).split(/[?#]/, 1)[0] as string;
  return path
    .split('/')
    .map((segment) => (isDecodable(segment) ? decodeURI(segment) : segment))
    .join('/');
}
