import { describe, expect, it } from 'vitest';
import { parseName, ROOT } from '../../../src/dns/name.ts';
import { parseZoneFile } from '../../../src/dns/zone-file/parse-zone-file.ts';
import { printZoneFile } from '../../../src/dns/zone-file/print-zone-file.ts';
import { countReads } from '../../support/tests/count-reads.ts';
import { recordsOf } from '../../support/zone/zone-text.ts';

const APEX = parseName('z.test.');

describe('a printed zone', () => {
  it('has $ORIGIN and the commonest $TTL, the SOA first, relative owners in canonical order', () => {
    const { records } = parseZoneFile(
      `$ORIGIN z.test.
b.a 60 A 192.0.2.2
\\$ttl TXT "x\\"y"
* 60 A 192.0.2.1
\\@ 60 TXT at
b.a 60 A 192.0.2.1
B 60 MX 10 @
@ 60 A 192.0.2.1
@ 60 NS ns.elsewhere.example.
@ 3600 SOA ns h 1 2 3 4 5
a.b 5 TYPE65280 \\# 1 00
`,
      { origin: APEX, defaultTtlSeconds: 60 },
    );
    expect(printZoneFile(APEX, records)).toBe(`$ORIGIN z.test.
$TTL 60
@                        3600 IN SOA ns.z.test. h.z.test. (
                            1          ; serial
                            2          ; refresh
                            3          ; retry
                            4          ; expire
                            5          ; minimum
                         )
                         IN NS ns.elsewhere.example.
                         IN A 192.0.2.1
\\$ttl                    IN TXT "x\\"y"
*                        IN A 192.0.2.1
\\@                       IN TXT "at"
b.a                      IN A 192.0.2.1
                         IN A 192.0.2.2
b                        IN MX 10 z.test.
a.b                      5 IN TYPE65280 \\# 1 00
`);
  });

  it('of the root has owners without the final dot', () => {
    expect(printZoneFile(ROOT, recordsOf('com. 1 NS a.com.'))).toContain(
      '\ncom                      IN NS a.com.\n',
    );
  });
});

it('parsing reads each character a few times for a zone of 27,500 records', () => {
  const lines = ['$ORIGIN z.test.\n$TTL 3600\n@ SOA ns1 h 1 2 3 4 5\n NS ns1\n'];
  for (let i = 0; i < 5_500; i++) {
    lines.push(`h${i} IN A 192.0.2.${i % 256}\n IN AAAA 2001:db8::${(i % 65_536).toString(16)}\n`);
    lines.push(` 300 TXT "v=spf1 -all"\nm${i} MX 10 h${i}\nc${i} CNAME h${i}\n`);
  }
  const text = lines.join('');
  let zone = parseZoneFile('');
  const reads = countReads(() => {
    zone = parseZoneFile(text);
  });
  expect(zone.problems).toEqual([]);
  expect(zone.records).toHaveLength(27_502);
  expect(reads).toBeGreaterThan(text.length);
  expect(reads).toBeLessThan(20 * text.length);
});
