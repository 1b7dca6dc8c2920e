// The known paths and their methods. For a request without a route, it suggests the intended path, or lists the
// methods of the path. A trailing slash is part of a path.

import type { FastifyInstance } from 'fastify';
import { badRequest, notFound, Problem } from '../answers/problem.ts';
import { hideSecret } from '../calls/paths.ts';

interface KnownPath {
  readonly pattern: RegExp;
  readonly methods: Set<string>;
  /** True if the path needs no authentication. */
  readonly isOpen: boolean;
  /** True if the path is on a compatibility surface. */
  readonly isCompat: boolean;
}

interface Unrouted {
  readonly problem: Problem;
  /** True if the path needs no authentication, so that the problem may be sent without it. */
  readonly isOpen: boolean;
  /** True if the caller may be a client of a compatibility surface, which presents its key as a password. */
  readonly takesPassword: boolean;
}

export class KnownPaths {
  readonly #byUrl = new Map<string, KnownPath>();

  /** Records all paths that are mounted from now on. */
  watch(app: FastifyInstance): void {
    app.addHook('onRoute', ({ url, method, config }) => {
      const known = this.#byUrl.get(url) ?? {
        pattern: patternOf(url),
        methods: new Set<string>(),
        isOpen: config?.openTo === 'everyone',
        isCompat: config?.route?.compat !== undefined,
      };
      for (const each of [method].flat()) known.methods.add(each);
      this.#byUrl.set(url, known);
    });
  }

  /** Explains why no route matches. `url` is the URL as received. */
  explain(method: string, url: string): Unrouted {
    const path = url.split(/[?#]/, 1)[0] as string;
    if (!isDecodable(path)) {
      const error = 'the path cannot be decoded: use UTF-8, and two hexadecimal digits after each "%"';
      return { problem: badRequest(error), isOpen: false, takesPassword: false };
    }
    const known = this.#find(path);
    const otherPath = path.endsWith('/') ? path.slice(0, -1) : `${path}/`;
    const other = this.#find(otherPath);
    if (known !== undefined && !other?.methods.has(method)) {
      const { methods, isOpen, isCompat } = known;
      return { problem: wrongMethod(method, methods), isOpen, takesPassword: isCompat };
    }
    const error = `path not found; did you mean ${hideSecret(otherPath)}?`;
    if (other === undefined) return { problem: notFound('path'), isOpen: false, takesPassword: true };
    return { problem: new Problem(404, error), isOpen: other.isOpen, takesPassword: other.isCompat };
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

/** Returns the path with its query, also for a URL with a host (absolute form, RFC 9112 §3.2.2). */
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

/** Returns the path with all decodable segments decoded. Other segments stay as received. */
export function readablePath(url: string): string {
  const path = pathOf(url).split(/[?#]/, 1)[0] as string;
  return path
    .split('/')
    .map((segment) => (isDecodable(segment) ? decodeURI(segment) : segment))
    .join('/');
}
