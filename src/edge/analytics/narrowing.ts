// Narrows a question about requests to hosts and paths, read from what a customer sends. Both are compared as plain text: there are
// no wildcards in them.

type HostFilter =
  /** That host and every host below it. */
  { readonly kind: 'below'; readonly host: string } | { readonly kind: 'host'; readonly host: string };

export interface Narrowing {
  readonly host?: HostFilter | undefined;
  /** How the path begins. */
  readonly path?: string | undefined;
}

export const MOST_HOST_CHARACTERS = 255;
export const MOST_PATH_CHARACTERS = 2048;

interface Wish {
  readonly hostname?: string | undefined;
  readonly path?: string | undefined;
}

/** `domain`: without the final dot. What is empty narrows nothing. */
export function readNarrowing(
  domain: string,
  { hostname = '', path = '' }: Wish,
): Narrowing | { readonly problem: { readonly field: string; readonly error: string } } {
  if (path !== '' && !path.startsWith('/'))
    return { problem: { field: 'path', error: 'expected a path, which begins with /' } };
  if (/[?#]/.test(path))
    return { problem: { field: 'path', error: 'a path has no query and no fragment: it takes any query' } };
  return {
    ...(hostname !== '' && { host: readHost(domain, hostname) }),
    ...(path !== '' && { path }),
  };
}

/**
 * A name means itself and its subdomains. One label without a dot is the host of that label; part of a label is the host of
 * another label, which nobody asks for.
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
