import { describe, expect, it } from 'vitest';
import { canonicalRdata } from '../../../src/dns/dnssec/canonical-rdata.ts';
import { printRdata } from '../../../src/dns/record/rdata.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const canonical = (text: string) => {
  const [{ type, rdata }] = recordsOf(`@ ${text}`, 'X.') as unknown as [{ type: number; rdata: Uint8Array }];
  return printRdata(type, canonicalRdata(type, rdata));
};

describe('the canonical form of rdata', () => {
  it.each([
    ['NS Ns.Example.', 'ns.example.'],
    ['SOA Mname.A. RName.B. 1 2 3 4 5', 'mname.a. rname.b. 1 2 3 4 5'],
    ['MX 16705 Mail.A.', '16705 mail.a.'],
    ['SRV 16705 16705 16705 Host.A.', '16705 16705 16705 host.a.'],
    ['RP Admin.A. Txt.A.', 'admin.a. txt.a.'],
    ['NAPTR 16705 10 "U" "E2U+SIP" "!A!B!" Re.A.', '16705 10 "U" "E2U+SIP" "!A!B!" re.a.'],
    ['NSEC Next.A. NS RRSIG', 'Next.A. NS RRSIG'],
    ['SVCB 1 Svc.A.', '1 Svc.A.'],
    ['TXT "ABC"', '"ABC"'],
  ])('of %s is %s', (text, expected) => {
    expect(canonical(text)).toBe(expected);
  });

  it('leaves the octets that it was given as they are', () => {
    const [{ type, rdata }] = recordsOf('@ NS NS.A.') as unknown as [{ type: number; rdata: Uint8Array }];
    const before = Uint8Array.from(rdata);
    canonicalRdata(type, rdata);
    expect(rdata).toEqual(before);
  });
});
