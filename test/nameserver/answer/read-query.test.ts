import { describe, expect, test } from 'vitest';
import { Query, readQuery } from '../../../src/nameserver/answer/read-query.ts';
import { FoldedName } from '../../../src/zone/image/find/folded-name.ts';
import { assemble, queryFor } from '../../support/answer/packets.ts';
import { smallImage } from '../../support/zone/zone-image.ts';

const HEADER = smallImage().header;

function newQuery(): Query {
  return new Query(new FoldedName(HEADER));
}

/** Reads the octets from the middle of a larger buffer. */
function readInto(query: Query, bytes: Uint8Array): void {
  const buffer = Buffer.concat([Buffer.alloc(5, 0xff), bytes, Buffer.alloc(9, 1)]);
  const view = new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength);
  readQuery(buffer, view, 5, bytes.length, query);
}

function read(bytes: Uint8Array): Query {
  const query = newQuery();
  readInto(query, bytes);
  return query;
}

function nameOf({ name }: Query): string {
  return Buffer.from(name.octets.subarray(0, name.length)).toString('latin1');
}

describe('a query', () => {
  test('is read with its name folded and its places', () => {
    const bytes = queryFor('WwW.\\000\\200X.', 28, { opt: 'size=4096 do nsid cookie:0102030405060708' });
    const query = read(bytes);
    expect(nameOf(query)).toBe('\x03www\x03\x00\xc8x\x00');
    expect(query.name.hadUpperCase).toBe(true);
    expect(query).toMatchObject({
      malformed: false,
      opcode: 0,
      questions: 1,
      questionEnd: 12 + 9 + 4,
      type: 28,
      class: 1,
      edns: true,
      udpPayloadSize: 4096,
      version: 0,
      dnssecOk: true,
      nsid: true,
      tcpKeepalive: false,
      zoneVersion: false,
      cookieAt: 5 + bytes.length - 8,
      cookieOctets: 8,
    });
  });

  test('leaves nothing behind for the next one', () => {
    const query = newQuery();
    readInto(query, queryFor('A.', 1, { opt: 'do nsid keepalive zoneversion cookie:0102030405060708' }));
    readInto(query, assemble('1234 0000 0001 0000 0000 0000 ff'));
    expect(nameOf(query)).toBe('\0');
    expect(query.name.hadUpperCase).toBe(false);
    expect(query).toMatchObject({
      malformed: true,
      questionEnd: 12,
      type: 0,
      edns: false,
      udpPayloadSize: 512,
      dnssecOk: false,
      nsid: false,
      tcpKeepalive: false,
      zoneVersion: false,
      cookieOctets: -1,
    });
  });

  test('cut anywhere is malformed', () => {
    const whole = queryFor('www.example.test.', 1, { opt: 'nsid cookie:0102030405060708' });
    for (let octets = 12; octets < whole.length; octets++) {
      expect(read(whole.subarray(0, octets)).malformed, `${octets} octets`).toBe(true);
    }
    expect(read(whole).malformed).toBe(false);
  });
});
