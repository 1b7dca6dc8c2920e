// Detects if this machine can use IPv6: it has an address that packets from outside can reach.

import { networkInterfaces } from 'node:os';

type Interfaces = ReturnType<typeof networkInterfaces>;

/** Interval for reading the addresses again, since they change with the network or a router advertisement. */
const REFRESH_MS = 60_000;

/** `privateToo`: in a lab, unique local addresses (RFC 4193) are also reachable. */
export function watchIpv6(privateToo: boolean, look: () => Interfaces = networkInterfaces): () => boolean {
  let found = false;
  let lookedAtMs = Number.NEGATIVE_INFINITY;
  return () => {
    if (performance.now() - lookedAtMs > REFRESH_MS) {
      lookedAtMs = performance.now();
      found = hasIpv6(look(), privateToo);
    }
    return found;
  };
}

function hasIpv6(interfaces: Interfaces, privateToo: boolean): boolean {
  return Object.values(interfaces).some((addresses) =>
    addresses?.some(({ family, internal, address }) => {
      if (family !== 'IPv6' || internal) return false;
      const first = Number.parseInt(address, 16); // up to the first colon
      const isGlobal = (first & 0xe000) === 0x2000; // 2000::/3, RFC 4291 §2.4
      const isPrivate = (first & 0xfe00) === 0xfc00; // fc00::/7
      return isGlobal || (isPrivate && privateToo);
    }),
  );
}
