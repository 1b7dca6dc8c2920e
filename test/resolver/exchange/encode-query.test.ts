// The octets of a question, read by our codec: an independent reader sees them in exchange.sockets.test.ts.

import { describe, expect, it } from 'vitest';
import { decodeMessage, type Message } from '../../../src/dns/message/message.ts';
import { MAX_NAME_OCTETS, type Name, parseName, ROOT } from '../../../src/dns/name.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { encodeQuery, setId } from '../../../src/resolver/exchange/encode-query.ts';
import { encodeMessage } from '../../support/answer/encode-message.ts';

const LONGEST = `${`\x3f${'x'.repeat(63)}`.repeat(3)}\x3d${'y'.repeat(61)}\0` as Name;

describe('encodeQuery', () => {
  for (const [what, name, type] of [
    ['a domain', parseName('www.example.'), TYPE.NS],
    ['the root', ROOT, TYPE.NS],
    ['a name of octets that are no letters', parseName('\\000\\255\\..example.'), TYPE.AAAA],
    ['a type above 255', parseName('example.'), TYPE.CAA],
    ['the longest name', LONGEST, 0xffff],
  ] as const) {
    for (const edns of [true, false]) {
      it(`asks for ${what} ${edns ? 'with' : 'without'} EDNS, as the codec would`, () => {
        const query = encodeQuery(name, type, edns);
        setId(query, 0xabcd);
        const message: Message = {
          id: 0xabcd,
          ...{ qr: false, opcode: 0, aa: false, tc: false, rd: false, ra: false, ad: false, cd: false },
          rcode: 0,
          questions: [{ name, type, class: 1 }],
          answers: [],
          authorities: [],
          additionals: [],
          ...(edns && { edns: { udpPayloadSize: 1232, version: 0, dnssecOk: true, options: [] } }),
        };
        expect(Buffer.from(query)).toEqual(Buffer.from(encodeMessage(message)));
        expect(decodeMessage(query)).toEqual(message);
      });
    }
  }

  it('takes names as long as names can be', () => {
    expect(LONGEST.length).toBe(MAX_NAME_OCTETS);
  });
});
