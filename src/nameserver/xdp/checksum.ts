// The Internet checksum (RFC 1071). Words are added in the byte order of the processor: the order does not matter for a sum
// with end-around carry (§2B), and loading swapped words takes longer.

/** Returns the sum of the octets, at most 64 KiB, as an integer below 2^31 that `fold` reduces. */
export function sumWords(view: DataView, at: number, octets: number): number {
  let sum = 0;
  const end = at + octets;
  for (; at + 4 <= end; at += 4) {
    const word = view.getInt32(at, true);
    sum += (word & 0xffff) + (word >>> 16);
  }
  if (at + 2 <= end) {
    sum += view.getUint16(at, true);
    at += 2;
  }
  return at < end ? sum + view.getUint8(at) : sum;
}

/** Adds the carries of a sum below 2^32. Returns 16 bits. */
export function fold(sum: number): number {
  const once = (sum & 0xffff) + (sum >>> 16);
  return (once & 0xffff) + (once >>> 16);
}

/** Returns what a little-endian processor loads from a 16-bit number in network order. */
export function inNetworkOrder(value: number): number {
  return ((value & 0xff) << 8) | ((value >> 8) & 0xff);
}
