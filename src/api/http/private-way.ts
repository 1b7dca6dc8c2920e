// Whether a request came over a way that nobody else reads: TLS that ends in this process, or one within this machine. A proxy
// on this machine makes everybody look as if he was here, so a request with any sign of a proxy is not from here. Signs only
// ever take away: no header makes a way private. A proxy that leaves no sign cannot be told from an agent on this machine.

import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { addressOctets, isInNetwork, type Network, networksOf } from '../../dns/record/network.ts';

const LOOPBACK = networksOf('127.0.0.0/8', '::1/128');

/** RFC 7239, RFC 9110 §7.6.3, and what proxies add of their own. */
const ADDED_BY_PROXIES =
  /^(forwarded|via|x-forwarded(-.+)?|x-real-ip|x-client-ip|x-original-.+|x-cluster-client-ip|x-envoy-.+|true-client-ip|cf-.+)$/;

/** What an agent on this machine asks for. Proxies that pass on the name that was asked for show themselves by it. */
const HERE = /^(([a-z0-9-]+\.)*localhost|127\.[0-9.]+|\[::1\])(:[0-9]+)?$/i;

/** `proxies`: networks of which we know that they are proxies'. */
export function isPrivateWay(request: IncomingMessage, proxies: readonly Network[]): boolean {
  const { socket, headers, httpVersion } = request;
  if (socket instanceof TLSSocket) return true;
  const octets = addressOctets((socket.remoteAddress ?? '').replace(/^::ffff:(?=\d+\.)/i, ''));
  if (octets === undefined || !LOOPBACK.some((network) => isInNetwork(network, octets))) return false;
  if (proxies.some((network) => isInNetwork(network, octets))) return false;
  if (Object.keys(headers).some((name) => ADDED_BY_PROXIES.test(name))) return false;
  // nginx asks with HTTP/1.0 and its own name for us unless it is told otherwise; no agent does.
  return httpVersion !== '1.0' && HERE.test(headers.host ?? '');
}
