import { describe, expect, test } from 'vitest';
import { Query, readQuery } from '../../src/nameserver/read-query.ts';
import { assemble, queryFor } from '../support/packets.ts';

function read(bytes: Uint8Array): Query {
  const query = new Query();
  readQuery(bytes, query);
  return query;
}

describe('a query', () => {
  test('is read with its name folded and its places', () => {
    const bytes = queryFor('WwW.\\000\\200X.', 28, { opt: 'size=4096 do nsid cookie:0102030405060708' });
    expect(read(bytes)).toMatchObject({
      malformed: false,
      opcode: 0,
      questions: 1,
      questionEnd: 12 + 9 + 4,
      name: '\x03www\x03\x00\xc8x\x00',
      type: 28,
      class: 1,
      edns: true,
      udpPayloadSize: 4096,
      version: 0,
      dnssecOk: true,
      nsid: true,
      tcpKeepalive: false,
      zoneVersion: false,
      cookieAt: bytes.length - 8,
      cookieOctets: 8,
    });
  });

  test('leaves nothing behind for the next one', () => {
    const query = new Query();
    readQuery(queryFor('a.', 1, { opt: 'do nsid keepalive zoneversion cookie:0102030405060708' }), query);
    readQuery(assemble('1234 0000 0001 0000 0000 0000 ff'), query);
    expect(query).toMatchObject({
      malformed: true,
      questionEnd: 12,
      name: '\0',
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
