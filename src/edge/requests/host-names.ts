// Parses the host of a request as a name, and lists the domains that it may belong to.

const MOST_CHARACTERS = 253;
/** Letters, digits, hyphens and underscores, as in names of proxied records. */
const HOST = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** Returns the name in lower case without the trailing dot, or undefined if a proxied record cannot have it. */
export function readHost(text: string): string | undefined {
  if (text.length > MOST_CHARACTERS + 1) return undefined;
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  const host = plain.toLowerCase();
  return host.length <= MOST_CHARACTERS && HOST.test(host) ? host : undefined;
}

/** Returns the host and its ancestors, longest first, without the top-level domain: `www.shop.example`, `shop.example`. */
export function namesAbove(host: string): string[] {
  const names: string[] = [];
  for (let rest = host; ; ) {
    const dot = rest.indexOf('.');
    if (dot === -1) return names;
    names.push(rest);
    rest = rest.slice(dot + 1);
  }
}
