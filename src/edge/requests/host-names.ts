// The host of a request as a name, and the names that it may belong to.

const MOST_CHARACTERS = 253;
/** Letters, digits, hyphens and underscores, as the names of proxied records have them. */
const HOST = /^[a-z0-9_-]{1,63}(?:\.[a-z0-9_-]{1,63})*$/;

/** In lower case and without the final dot; undefined: no name of the DNS that a proxied record can have. */
export function readHost(text: string): string | undefined {
  if (text.length > MOST_CHARACTERS + 1) return undefined;
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  const host = plain.toLowerCase();
  return host.length <= MOST_CHARACTERS && HOST.test(host) ? host : undefined;
}

/** The names that the host is or ends with, the longest first, without the top-level one: `www.shop.example`, `shop.example`. */
export function namesAbove(host: string): string[] {
  const names: string[] = [];
  for (let rest = host; ; ) {
    const dot = rest.indexOf('.');
    if (dot === -1) return names;
    names.push(rest);
    rest = rest.slice(dot + 1);
  }
}
