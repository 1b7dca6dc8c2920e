// Which proxied name of a domain a host is: an exact one before wildcards, the longer wildcard before the shorter.

import type { EdgeConfig, EdgeHost } from '../../../../src/edge/edge-config.ts';

export function findHost({ hosts }: Pick<EdgeConfig, 'hosts'>, host: string): EdgeHost | undefined {
  const exact = hosts.find((each) => each.host === host);
  if (exact !== undefined) return exact;
  const wildcards = hosts.filter((each) => each.host.startsWith('*.') && host.endsWith(each.host.slice(1)));
  return wildcards.sort((a, b) => b.host.length - a.host.length)[0];
}

/** The host of a request in lower case, without port and final dot; undefined: it has none that could be a name. */
export function hostOf(header: string | undefined): string | undefined {
  const host = header?.toLowerCase().replace(/:\d+$/, '').replace(/\.$/, '');
  return host !== undefined && /^[a-z0-9_*-]+(\.[a-z0-9_-]+)*$/.test(host) ? host : undefined;
}
