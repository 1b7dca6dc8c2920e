// Reads the URL of a test, as an edge reads the request that a browser sends for it.

export interface TestedUrl {
  readonly kind: 'url';
  readonly url: string;
  /** A-labels in lower case, without the trailing dot. */
  readonly host: string;
  /** As in the request. */
  readonly rawPath: string;
  /** As compared with rules. Undefined if edges reject it. */
  readonly path: string | undefined;
  /** Without the question mark. */
  readonly query: string;
}

type ReadUrl = TestedUrl | { readonly kind: 'problem'; readonly problem: 'url' | 'long' };

const MAX_CHARACTERS = 2048;
/** RFC 1035 §2.3.4, without the trailing dot. */
const MAX_HOST = 253;

/** Accepts a URL with or without a scheme, or a path of the domain. */
export function readUrl(text: string, domain: string): ReadUrl {
  const typed = text.trim();
  if (typed.length > MAX_CHARACTERS) return { kind: 'problem', problem: 'long' };
  const whole = typed.startsWith('/')
    ? `https://${domain}${typed}`
    : /^[a-z][a-z0-9+.-]*:\/\//i.test(typed)
      ? typed
      : `https://${typed}`;
  if (typed === '' || !URL.canParse(whole)) return { kind: 'problem', problem: 'url' };
  const url = new URL(whole);
  if (!/^https?:$/.test(url.protocol)) return { kind: 'problem', problem: 'url' };
  url.hash = '';
  const host = url.hostname.replace(/\.$/, '');
  if (host.length > MAX_HOST) return { kind: 'problem', problem: 'url' };
  return {
    kind: 'url',
    url: url.href,
    host,
    rawPath: url.pathname,
    path: decodedPath(url.pathname),
    query: url.search.slice(1),
  };
}

/**
 * Decodes a path once, resolves dot segments and merges slashes. Returns undefined for a path that edges reject: with an
 * incomplete escape or a control character, or one that leads above the root.
 */
export function decodedPath(rawPath: string): string | undefined {
  if (/%(?![0-9A-Fa-f]{2})/.test(rawPath)) return undefined;
  const octets = rawPath.replaceAll(/%([0-9A-Fa-f]{2})/g, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
  const path = new TextDecoder().decode(Uint8Array.from(octets, (octet) => octet.charCodeAt(0)));
  if (/\p{Cc}/u.test(path.replaceAll(/[\x80-\x9f]/g, ''))) return undefined;
  const kept: string[] = [];
  const segments = path.split('/').slice(1);
  for (const [i, segment] of segments.entries()) {
    const isLast = i === segments.length - 1;
    if (segment === '..') {
      if (kept.pop() === undefined) return undefined;
    } else if (segment !== '.' && segment !== '') kept.push(segment);
    if (isLast && (segment === '' || segment === '.' || segment === '..')) kept.push('');
  }
  return `/${kept.join('/')}`;
}
