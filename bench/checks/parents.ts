// A small internet on loopback addresses: a root, top-level zones spread over 64 addresses, and names below them that are
// all delegated to Zonefleet. Nameservers are named after their addresses, so that dig finds them without the machine's resolver.

/** The domains are delegated to these: the set that a domain of the benchmark should have. */
export const OUR_NAMESERVERS = ['127.0.20.65', '127.0.20.66'] as const;
/** For RESOLVER_ALLOW. */
export const PARENT_NETWORK = '127.0.20.0/23';
export const PARENT_ADDRESSES = 64;
export const PARENT_ZONES = 16;
export const PARENT_DELAY_MS = 20;

const ADDRESSES_PER_ZONE = PARENT_ADDRESSES / PARENT_ZONES;
const ROOT_ADDRESSES = 4;

/** Zones under the first top-level zone whose servers are silent, two of these addresses each. */
export const VICTIMS = 50;
export const SILENT_ZONES = 200;

export function victimAddress(index: number): string {
  return `127.0.21.${index + 1}`;
}

/** Without the final dot. */
export function silentZone(index: number): string {
  return `s${index}.${parentZone(0)}`;
}

/** From 0. */
export function parentAddress(index: number): string {
  return `127.0.20.${index + 1}`;
}

/** Without the final dot. */
export function parentZone(index: number): string {
  return `t${String(index).padStart(2, '0')}`;
}

export function addressesOfZone(index: number): string[] {
  return Array.from({ length: ADDRESSES_PER_ZONE }, (_, i) => parentAddress(index * ADDRESSES_PER_ZONE + i));
}

/** Returns a few addresses, each of a server that also serves a top-level zone. */
export function rootAddresses(): string[] {
  const step = PARENT_ADDRESSES / ROOT_ADDRESSES;
  return Array.from({ length: ROOT_ADDRESSES }, (_, i) => parentAddress(i * step));
}

/** For ROOT_HINTS. */
export function rootHints(): string {
  return rootAddresses()
    .map((address) => `. 3600000 NS ${address}.\n${address}. 3600000 A ${address}\n`)
    .join('');
}

/** Returns the name with this index. Consecutive names are in different zones. */
export function parentedName(index: number): string {
  return `d${String(index).padStart(7, '0')}.${parentZone(index % PARENT_ZONES)}`;
}
