import { describe, expect, it } from 'vitest';
import { Frame } from '../../../src/nameserver/xdp/frame.ts';
import { decodeUdpFrame } from '../../support/network/frames.ts';
import { type Family, frameOf, withTags } from '../../support/network/query-frames.ts';

const AT = 258; // not a multiple of 4, as in real frames
const REPLY_AT = 1024;
const FAMILIES = ['ipv4', 'ipv6'] as const;
const QUERY = Buffer.from('a query of an odd length.');

const memory = new Uint8Array(4096);
const frame = new Frame(memory);

function read(octets: Uint8Array, length = octets.length): boolean {
  memory.fill(0xee);
  memory.set(octets, AT);
  return frame.read(AT, length);
}

/** Returns a copy in which the 16-bit number at `at` is replaced. */
function with16(octets: Uint8Array, at: number, value: number): Buffer {
  const copy = Buffer.from(octets);
  copy.writeUInt16BE(value & 0xffff, at);
  return copy;
}

const udpAt = (family: Family) => (family === 'ipv4' ? 34 : 54);

describe.each(FAMILIES)('Frame over %s', (family) => {
  const query = frameOf(family, QUERY);
  const udp = udpAt(family);

  it('finds the message, the addresses and the ports, and ignores padding', () => {
    expect(read(Buffer.concat([query, Buffer.alloc(7, 0xff)]))).toBe(true);
    const { messageAt, messageOctets, clientAt, destinationAt, addressOctets } = frame;
    expect(Buffer.from(memory.subarray(messageAt, messageAt + messageOctets))).toEqual(QUERY);
    expect([addressOctets, frame.clientPort, frame.destinationPort]).toEqual([
      family === 'ipv4' ? 4 : 16,
      40_000,
      53,
    ]);
    expect(memory[clientAt + addressOctets - 1]).toBe(7);
    expect(memory[destinationAt + addressOctets - 1]).toBe(family === 'ipv4' ? 1 : 0x53);
    expect([frame.headersOctets, frame.packetHeadersOctets]).toEqual([udp + 8, udp - 6]);
  });

  it.each([[[]], [[0x8100]]])('writes a valid reply with the VLAN tags %j', (tags) => {
    for (const octets of [12, 13, 14, 15, 100, 1232]) {
      const tagged = withTags(query, ...tags);
      expect(read(tagged)).toBe(true);
      const answer = Buffer.alloc(octets, 0xa5);
      const headers = frame.headersOctets;
      memory.set(answer, REPLY_AT + headers);
      const length = frame.writeReply(REPLY_AT, octets);
      expect(length).toBe(Math.max(60, headers + octets));
      const reply = Buffer.from(memory.subarray(REPLY_AT, REPLY_AT + length));
      expect(reply.subarray(0, 12)).toEqual(Buffer.concat([query.subarray(6, 12), query.subarray(0, 6)]));
      const end = 12 + 4 * tags.length;
      expect(reply.subarray(12, end)).toEqual(tagged.subarray(12, end));
      const bare = Buffer.concat([reply.subarray(0, 12), reply.subarray(end)]);
      const padded = bare.length < 60 ? Buffer.concat([bare, Buffer.alloc(60 - bare.length)]) : bare;
      const [sent, got] = [decodeUdpFrame(query), decodeUdpFrame(padded)];
      expect(got?.faults).toEqual([]);
      expect([got?.from, got?.to]).toEqual([sent?.to, sent?.from]);
      expect(Buffer.from(got?.payload ?? [])).toEqual(answer);
    }
  });

  it('rejects every truncation, and reads no octet beyond the frame', () => {
    for (let length = 0; length < query.length; length++) {
      expect(read(query.subarray(0, length))).toBe(false);
      expect(new Frame(new Uint8Array(query.subarray(0, length))).read(0, length)).toBe(false);
    }
  });

  it('rejects every wrong octet of the UDP header, the addresses and the message', () => {
    for (let at = family === 'ipv4' ? 14 : 22; at < query.length; at++) {
      const wrong = Buffer.from(query);
      wrong[at] = (wrong[at] as number) ^ 0x11;
      expect(read(wrong), `octet ${at}`).toBe(false);
    }
  });

  it('rejects UDP lengths below the header and above the packet', () => {
    for (const octets of [0, 7, query.length - udp + 1, 0xffff]) {
      expect(read(with16(with16(query, udp + 4, octets), udp + 6, 0))).toBe(false);
    }
  });

  it('accepts a partial checksum, which has only the sum of the pseudo-header', () => {
    const octets = query.length - udp;
    const addresses = query.subarray(family === 'ipv4' ? 26 : 22, udp);
    let sum = octets + 17;
    for (let i = 0; i < addresses.length; i += 2) sum += addresses.readUInt16BE(i);
    while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
    expect(read(with16(query, udp + 6, sum))).toBe(true);
    expect(read(with16(query, udp + 6, sum + 1))).toBe(false);
  });

  it('accepts a missing checksum only over IPv4', () => {
    expect(read(with16(query, udp + 6, 0))).toBe(family === 'ipv4');
  });

  it('rejects source port 0', () => {
    expect(read(frameOf(family, QUERY, undefined, 0))).toBe(false);
  });
});

describe('Frame', () => {
  it.each([
    ['ipv4', '0.0.0.0'],
    ['ipv4', '0.1.2.3'],
    ['ipv4', '127.0.0.1'],
    ['ipv4', '224.0.0.251'],
    ['ipv4', '239.255.255.255'],
    ['ipv4', '255.255.255.255'],
    ['ipv4', '192.0.2.1'],
    ['ipv6', '::'],
    ['ipv6', '::1'],
    ['ipv6', 'ff02::fb'],
    ['ipv6', '::ffff:192.0.2.7'],
    ['ipv6', '2001:db8::53'],
  ] as const)('rejects a query over %s from %s', (family, source) => {
    expect(read(frameOf(family, QUERY, source))).toBe(false);
  });

  it.each([
    ['ipv4', '1.0.0.0'],
    ['ipv4', '240.0.0.1'],
    ['ipv6', 'fe80::1'],
    ['ipv6', '::2'],
    ['ipv6', '64:ff9b::1'],
  ] as const)('reads a query over %s from %s', (family, source) => {
    expect(read(frameOf(family, QUERY, source))).toBe(true);
  });

  it('rejects three VLAN tags and other types', () => {
    expect(read(withTags(frameOf('ipv4', QUERY), 0x8100, 0x8100, 0x8100))).toBe(false);
    expect(read(with16(frameOf('ipv4', QUERY), 12, 0x0806))).toBe(false);
  });

  it('rejects IPv4 lengths beyond the frame, options and fragments', () => {
    const query = frameOf('ipv4', QUERY);
    const fixed = (octets: Buffer) => {
      let sum = 0;
      octets.writeUInt16BE(0, 24);
      for (let i = 14; i < 34; i += 2) sum += octets.readUInt16BE(i);
      sum = (sum & 0xffff) + (sum >>> 16);
      return with16(octets, 24, ~sum);
    };
    expect(read(fixed(Buffer.from(query)))).toBe(true);
    for (const [at, value] of [
      [14, 0x4600],
      [14, 0x5500],
      [16, 27],
      [16, query.length - 13],
      [20, 0x2000],
      [20, 1],
    ] as const) {
      expect(read(fixed(with16(query, at, value)))).toBe(false);
    }
  });

  it('rejects IPv6 payload lengths that do not hold the UDP packet', () => {
    const query = frameOf('ipv6', QUERY);
    for (const octets of [0, 7, query.length - 55, query.length - 53])
      expect(read(with16(query, 18, octets))).toBe(false);
  });

  it('never throws, for random changes of a frame', () => {
    let random = 1;
    const next = (limit: number) => {
      random = (Math.imul(random, 1_103_515_245) + 12_345) >>> 0;
      return (random >>> 8) % limit;
    };
    const frames = FAMILIES.flatMap((family) => [
      frameOf(family, QUERY),
      withTags(frameOf(family, QUERY), 0x8100),
    ]);
    for (let i = 0; i < 2000; i++) {
      const copy = Buffer.from(frames[i % frames.length] as Buffer);
      for (let changes = next(4); changes >= 0; changes--) copy[next(copy.length)] = next(256);
      const length = next(copy.length + 1);
      if (!new Frame(new Uint8Array(copy.subarray(0, length))).read(0, length)) continue;
      read(copy, length);
      expect(frame.messageAt + frame.messageOctets).toBeLessThanOrEqual(AT + length);
    }
  });
});
