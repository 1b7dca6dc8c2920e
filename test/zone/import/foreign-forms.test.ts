import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { type ParsedRecords, parseRecords } from '../../../src/zone/import/parse-records.ts';

const APEX = parseName('stall.example.');

function parse(text: string): ParsedRecords {
  return inOneGo(parseRecords(text, APEX));
}

const lines = (text: string) =>
  parse(text).records.map(({ name, ttl, type, destination }) => `${name} ${ttl} ${type} ${destination}`);
const skipped = (text: string) =>
  parse(text).skipped.map(({ line, name, type, reason }) => `${line} ${name} ${type}: ${reason}`);
const warnings = (text: string) =>
  parse(text).warnings.map(
    ({ code, line, owner, type, message }) => `${line} ${printName(owner)} ${type} ${code}: ${message}`,
  );

describe('a CSV file', () => {
  it.each([
    'Type,Name,Value,TTL\nA,www,192.0.2.1,300',
    'name;type;ttl;content\r\nwww;A;300;192.0.2.1',
    '"Domain";"TTL";"Type";"Target"\n"stall.example";"300";"A";"192.0.2.1"',
    '\ufeffType\tHost Name\tPoints to\tPriority\n',
    '\n\nRecord Type,Record Name,Data,Zone ID,Proxied\n',
    "'type', 'name', 'rdata'",
  ])('causes one error that names the formats that can be imported: %j', (text) => {
    const parsed = parse(text);
    expect(parsed).toMatchObject({ records: [], skipped: [], warnings: [] });
    expect(parsed.errors).toEqual([
      {
        ...{ line: 1, column: 1 },
        error: 'this is a CSV file: export a zone file (BIND) or Route 53 JSON instead',
      },
    ]);
  });

  it.each([
    '; name\tttl\tclass\ttype\tdata\nwww 300 IN A 192.0.2.1',
    ';;name;type;ttl;value\nwww 300 IN A 192.0.2.1',
    'name\tTXT\ttype\tvalue\nwww 300 IN A 192.0.2.1',
    '$ORIGIN stall.example.\nwww 300 IN A 192.0.2.1',
    'type,name,ttl TXT value\nwww 300 IN A 192.0.2.1',
  ])('does not include a zone file that begins with words of such a header: %j', (text) => {
    expect(lines(text)).toContain('www 300 A 192.0.2.1');
  });
});

describe('a record of type SPF', () => {
  const REPLACED = 'mail servers no longer read SPF records (RFC 7208 §3.1): this one becomes a TXT record';

  it('becomes a TXT record, unless the name has such a policy', () => {
    const text =
      'only 900 IN SPF "v=spf1 -all"\nboth 900 IN SPF "v=spf1 -all"\nboth 900 IN TXT "v=spf1 -all"';
    expect(lines(text)).toEqual(['only 900 TXT v=spf1 -all', 'both 900 TXT v=spf1 -all']);
    expect(skipped(text)).toEqual([
      '2 both SPF: the name has a TXT record with an SPF policy, which mail servers use instead (RFC 7208 §3.1)',
    ]);
    expect(warnings(text)).toEqual([`1 only.stall.example. TXT TYPE_REPLACED: ${REPLACED}`]);
  });

  it('is read by its number, in addition to other TXT, and once', () => {
    const text = `@ TXT "v=spf10 x"
@ TYPE99 \\# 13 0c763d73706631202d616c6c20
@ SPF "v=spf1 -all "`;
    expect(lines(text)).toEqual(['@ 300 TXT v=spf10 x', '@ 300 TXT v=spf1 -all ']);
    expect(skipped(text)).toEqual(['3 @ SPF: the same record is in line 2']);
  });
});

describe('a cli53 alias', () => {
  it('becomes an ANAME', () => {
    const text = `$ORIGIN stall.example.
w 60 IN A 192.0.2.111
al 86400 AWS ALIAS A w $self false
bl\t86400\tAWS\tALIAS\tAAAA\tlb.edge.example. Z1EXAMPLE true ; AWS routing="WEIGHTED" weight=10 identifier="x"
@ AWS ALIAS CNAME w.stall.example. $self false
t TXT "x AWS ALIAS A w $self false"`;
    expect(parse(text).errors).toEqual([]);
    expect(lines(text)).toEqual([
      'w 60 A 192.0.2.111',
      'al 86400 ANAME w.stall.example',
      'bl 86400 ANAME lb.edge.example',
      '@ 86400 ANAME w.stall.example',
      't 86400 TXT x AWS ALIAS A w $self false',
    ]);
    expect(warnings(text).filter((each) => each.includes('TYPE_REPLACED'))).toEqual([
      '3 al.stall.example. ANAME TYPE_REPLACED: the alias of Route 53 becomes an ANAME: al.stall.example. is answered with the addresses of w.stall.example.',
      '4 bl.stall.example. ANAME TYPE_REPLACED: the alias of Route 53 becomes an ANAME: bl.stall.example. is answered with the addresses of lb.edge.example.',
      '5 stall.example. ANAME TYPE_REPLACED: the alias of Route 53 becomes an ANAME: stall.example. is answered with the addresses of w.stall.example.',
    ]);
  });

  it('does not change the position of its errors', () => {
    const { errors } = parse('; x AWS ALIAS A w $self false\r\nal 60 AWS ALIAS A w..x $self false');
    expect(errors).toEqual([{ line: 2, column: 19, error: '"w..x" has an empty label' }]);
  });
});

describe('the TTL', () => {
  it.each([
    [';; Domain:     stall.example.\nw 1 IN A 192.0.2.1', 300],
    ['w 1 IN A 192.0.2.1 ; cf_tags=cf-proxied:false', 300],
    [';; Domain:     stall.example.\nw 120 IN A 192.0.2.1', 120],
    ['w 1 IN A 192.0.2.1', 60],
  ])('1 is automatic in an export of Cloudflare: %j', (text, ttl) => {
    expect(parse(text).records.map((record) => record.ttl)).toEqual([ttl]);
  });

  it('is that of the SOA in an export of Windows DNS, unless a record has its own', () => {
    const text = `;
;  Database file stall.example.dns for stall.example zone.
;      Zone version:  88
;
@                       IN  SOA dc.stall.example. admin.stall.example. (
                        \t88           ; serial number
                        \t900          ; refresh
                        \t600          ; retry
                        \t86400        ; expire
                        \t1800       ) ; default TTL
dc                      7200\tA\t192.0.2.30
pc1                     A\t192.0.2.32`;
    expect(lines(text)).toEqual(['dc 7200 A 192.0.2.30', 'pc1 1800 A 192.0.2.32']);
    expect(lines(text.replace('Database file', 'Data'))).toContain('pc1 7200 A 192.0.2.32');
  });
});
