// Decides whether a request's Host header is accepted at an address that requires no key. An attacker's page can resolve its own
// name to our address (DNS rebinding), and browsers then read our responses under that name. So only names that an attacker
// cannot have are accepted.

import { isIPv4, isIPv6 } from 'node:net';

/** `hosts`: further names of ours, in lower case. */
export function isOurHost(header: string | undefined, hosts: readonly string[] = []): boolean {
  if (header === undefined) return true; // HTTP/1.0: not a browser
  const [, v6, other] = /^(?:\[([^\]]*)\]|([^:[\]]*))(?::\d{0,5})?$/.exec(header) ?? [];
  if (v6 !== undefined) return isIPv6(v6);
  if (other === undefined) return false;
  const name = other.toLowerCase();
  if (isIPv4(name) || name === 'localhost' || name.endsWith('.localhost')) return true; // RFC 6761 §6.3
  // A name without a dot is local to this network, such as a container's, and cannot be registered.
  return /^[a-z0-9_-]+$/.test(name) || hosts.includes(name);
}

export const NOT_OUR_HOST = 'this host name is not allowed: use an address, or add the name to METRICS_HOSTS';
/** RFC 9110 §15.5.20. */
export const MISDIRECTED = 421;
