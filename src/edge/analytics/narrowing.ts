// Parses the host and path filters of an analytics query. Both are compared as plain text, without wildcards.

type HostFilter =
  /** This host and all of its subdomains. */
  { readonly kind: 'below'; readonly host: string } | { readonly kind: 'host'; readonly host: string };

export interface Narrowing {
  readonly host?: HostFilter | undefined;
  /** Prefix of the path. */
  readonly path?: string | undefined;
}

export const MOST_HOST_CHARACTERS = 255;
export const MOST_PATH_CHARACTERS = 2048;

interface Wish {
  readonly hostname?: string | undefined;
  readonly path?: string | undefined;
}

/** `domain`: without the trailing dot. Empty values are ignored. */
export function readNarrowing(
  domain: string,
  { hostname = '', path = '' }: Wish,
): Narrowing | { readonly problem: { readonly field: string; readonly error: string } } {
  if (path !== '' && !path.startsWith('/'))
    return { problem: { field: 'path', error: 'expected a path that begins with /' } };
  if (/[?#]/.test(path))
    return {
      problem: { field: 'path', error: 'expected a path without query and fragment: it matches every query' },
    };
  return {
    ...(hostname !== '' && { host: readHost(domain, hostname) }),
    ...(path !== '' && { path }),
  };
}

/**
 * A name matches itself and its subdomains. A single label without a dot is the host with that label below the domain, not
 * a substring.
 */
function readHost(domain: string, text: string): HostFilter {
  const plain = text.toLowerCase().replace(/\.$/, '');
  const host =
    isAscii(plain) || !URL.canParse(`http://${plain}/`) ? plain : new URL(`http://${plain}/`).hostname;
  return host.includes('.') ? { kind: 'below', host } : { kind: 'host', host: `${host}.${domain}` };
}

function isAscii(text: string): boolean {
  return !/[^ -~]/.test(text);
}
