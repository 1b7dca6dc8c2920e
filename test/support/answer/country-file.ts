// Writes a MaxMind database for IPv4 (version 2.0 of the format), so that loopback addresses have countries.

const SEPARATOR = Buffer.alloc(16);
const MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');

/** @param countries the country of each address */
export function countryFile(countries: Readonly<Record<string, string>>): Buffer {
  const nodes: [number, number][] = [[-1, -1]];
  const data: Buffer[] = [];
  const offsets = new Map<string, number>();
  let length = 0;
  const leaves: { node: number; bit: number; offset: number }[] = [];
  for (const [address, country] of Object.entries(countries)) {
    const bits = address
      .split('.')
      .flatMap((octet) => [...Number(octet).toString(2).padStart(8, '0')].map(Number));
    let node = 0;
    for (const bit of bits.slice(0, -1)) {
      const pair = nodes[node] as [number, number];
      if (pair[bit] === -1) pair[bit] = nodes.push([-1, -1]) - 1;
      node = pair[bit] as number;
    }
    const offset = offsets.get(country) ?? length;
    if (!offsets.has(country)) {
      const entry = map({ country_code: text(country) });
      offsets.set(country, length);
      length += entry.length;
      data.push(entry);
    }
    leaves.push({ node, bit: bits.at(-1) as number, offset });
  }
  const tree = nodes.map((pair) => pair.map((child) => (child === -1 ? nodes.length : child)));
  for (const { node, bit, offset } of leaves)
    (tree[node] as number[])[bit] = nodes.length + SEPARATOR.length + offset;
  const metadata = map({
    binary_format_major_version: number(5, 2),
    binary_format_minor_version: number(5, 0),
    build_epoch: Buffer.of(1, 2, 1), // an extended type: uint64
    database_type: text('Country'),
    description: map({}),
    ip_version: number(5, 4),
    languages: Buffer.of(0, 4), // an extended type: an empty array
    node_count: number(6, nodes.length),
    record_size: number(5, 24),
  });
  const records = tree.map((pair) => {
    const octets = Buffer.alloc(6);
    for (const [i, value] of pair.entries()) octets.writeUIntBE(value, 3 * i, 3);
    return octets;
  });
  return Buffer.concat([...records, SEPARATOR, ...data, MARKER, metadata]);
}

function text(value: string): Buffer {
  return Buffer.concat([Buffer.of((2 << 5) | value.length), Buffer.from(value)]);
}

function number(type: 5 | 6, value: number): Buffer {
  return Buffer.of((type << 5) | 2, value >> 8, value & 255);
}

function map(members: Readonly<Record<string, Buffer>>): Buffer {
  const entries = Object.entries(members);
  const parts = entries.flatMap(([key, value]) => [keyOf(key), value]);
  return Buffer.concat([Buffer.of((7 << 5) | entries.length), ...parts]);
}

/** The length of names over 28 octets takes a second octet. */
function keyOf(key: string): Buffer {
  return key.length < 29
    ? text(key)
    : Buffer.concat([Buffer.of((2 << 5) | 29, key.length - 29), Buffer.from(key)]);
}
