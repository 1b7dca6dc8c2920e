// Whether a request's Host header is accepted on an address that asks for no key. An attacker's page can let its own
// name lead to our address (DNS rebinding), and browsers then read our answers under that name: so only names that an
// attacker cannot have are accepted.

import { isIPv4, isIPv6 } from 'node:net';

/** `hosts`: further names that are ours, in lower case. */
export function isOurHost(header: string | undefined, hosts: readonly string[] = []): boolean {
  if (header === undefined) return true; // HTTP/1.0: no browser
  const [, v6, other] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{0,5})?$/.exec(header) ?? [];
  if (v6 !== undefined) return isIPv6(v6);
  if (other === undefined) return false;
  const name = other.toLowerCase();
  if (isIPv4(name) || name === 'localhost' || name.endsWith('.localhost')) return true; // RFC 6761 §6.3
  // Without a dot it is a name of this network's (a container's, say), which nobody can register.
  return /^[a-z0-9_-]+$/.test(name) || hosts.includes(name);
}

export const NOT_OUR_HOST = 'this name is not ours: ask by address, or list it in METRICS_HOSTS';
/** RFC 9110 §15.5.20. */
export const MISDIRECTED = 421;
