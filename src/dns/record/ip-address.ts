// Strict parsing and printing of IP addresses: no octal or short IPv4 forms, and no IPv6 zone identifiers. IPv6 is
// printed according to RFC 5952.

import { TextError } from '../errors.ts';

/** Returns 4 or 16 octets. */
export function parseAddress(text: string): Uint8Array {
  return text.includes(':') ? parseIpv6(text) : parseIpv4(text);
}

/** Prints an address of 4 or 16 octets. */
export function printAddress(octets: Uint8Array): string {
  return octets.length === 4 ? printIpv4(octets) : printIpv6(octets);
}

export function parseIpv4(text: string): Uint8Array {
  const octets = readIpv4(text);
  if (octets === undefined) throw new TextError(`"${text}" is not an IPv4 address`);
  return octets;
}

/** Returns undefined if the text is not an address. */
export function readIpv4(text: string): Uint8Array | undefined {
  const octets = new Uint8Array(4);
  let octet = 0;
  let start = 0;
  let value = 0;
  for (let i = 0; i <= text.length; i++) {
    const digit = text.charCodeAt(i) - 48;
    if (digit >= 0 && digit <= 9) {
      value = 10 * value + digit;
      if (value > 255 || (i > start && text[start] === '0')) return undefined;
      continue;
    }
    const isEnd = i === text.length;
    if (i === start || octet > 3 || !(isEnd || text[i] === '.')) return undefined;
    octets[octet++] = value;
    start = i + 1;
    value = 0;
  }
  return octet === 4 ? octets : undefined;
}

export function printIpv4(octets: Uint8Array): string {
  return `${octets[0]}.${octets[1]}.${octets[2]}.${octets[3]}`;
}

/** Parses RFC 4291 §2.2 text, with an IPv4 tail and one `::` that stands for at least one group. */
export function parseIpv6(text: string): Uint8Array {
  const groups = ipv6Groups(text);
  if (groups === undefined) throw new TextError(`"${text}" is not an IPv6 address`);
  return Uint8Array.from(groups.flatMap((group) => [group >> 8, group & 0xff]));
}

function ipv6Groups(text: string): number[] | undefined {
  const halves = text.split('::');
  const [first = '', second] = halves;
  const head = first === '' ? [] : groupsOf(first, second === undefined);
  const tail = second === undefined || second === '' ? [] : groupsOf(second, true);
  if (head === undefined || tail === undefined || halves.length > 2) return undefined;
  const zeros = 8 - head.length - tail.length;
  if (second === undefined ? zeros !== 0 : zeros < 1) return undefined;
  return [...head, ...Array<number>(zeros).fill(0), ...tail];
}

function groupsOf(text: string, mayEndInIpv4: boolean): number[] | undefined {
  const parts = text.split(':');
  const groups: number[] = [];
  for (const [i, part] of parts.entries()) {
    if (/^[0-9A-Fa-f]{1,4}$/.test(part)) {
      groups.push(Number.parseInt(part, 16));
    } else if (mayEndInIpv4 && i === parts.length - 1 && part.includes('.')) {
      const tail = readIpv4(part);
      if (tail === undefined) return undefined;
      const view = new DataView(tail.buffer);
      groups.push(view.getUint16(0), view.getUint16(2));
    } else {
      return undefined;
    }
  }
  return groups;
}

export function printIpv6(octets: Uint8Array): string {
  const groups = Array.from(
    { length: 8 },
    (_, i) => (octets[2 * i] as number) * 0x100 + (octets[2 * i + 1] as number),
  );
  if (groups.slice(0, 5).every((group) => group === 0) && groups[5] === 0xffff) {
    return `::ffff:${printIpv4(octets.subarray(12))}`; // RFC 5952 §5
  }
  const zeros = longestZeros(groups);
  const hex = (part: number[]) => part.map((group) => group.toString(16)).join(':');
  if (zeros.count < 2) return hex(groups); // RFC 5952 §4.2.2
  return `${hex(groups.slice(0, zeros.from))}::${hex(groups.slice(zeros.from + zeros.count))}`;
}

/** Returns the first of the longest runs of zero groups (RFC 5952 §4.2.3). */
function longestZeros(groups: readonly number[]): { from: number; count: number } {
  let longest = { from: 0, count: 0 };
  let count = 0;
  for (const [i, group] of groups.entries()) {
    count = group === 0 ? count + 1 : 0;
    if (count > longest.count) longest = { from: i - count + 1, count };
  }
  return longest;
}
