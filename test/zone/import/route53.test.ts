import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseName, printName } from '../../../src/dns/name.ts';
import { inOneGo } from '../../../src/dns/zone-file/in-one-go.ts';
import { type ParsedRecords, parseRecords } from '../../../src/zone/import/parse-records.ts';
import { scale } from '../../support/tests/scale.ts';

const APEX = parseName('stall.example.');

function parse(text: string): ParsedRecords {
  return inOneGo(parseRecords(text, APEX));
}

function parseSets(...sets: unknown[]): ParsedRecords {
  return parse(JSON.stringify({ ResourceRecordSets: sets }));
}

/** Returns the full name of a name relative to the domain, unless it ends with a dot. */
const full = (name: string) =>
  name.endsWith('.') ? name : `${name === '@' ? '' : `${name}.`}stall.example.`;
const set = (name: string, Type: string, ...values: string[]) => ({
  ...{ Name: full(name), Type, TTL: 300 },
  ResourceRecords: values.map((Value) => ({ Value })),
});

const weighted = (name: string, Type: string, value: string, SetIdentifier: string) => ({
  ...set(name, Type, value),
  ...{ SetIdentifier, Weight: 1 },
});

const alias = (name: string, Type: string, DNSName: string, more = {}) => ({
  ...{ Name: full(name), Type, ...more },
  AliasTarget: { HostedZoneId: 'Z1EXAMPLE', DNSName, EvaluateTargetHealth: false },
});

const lines = ({ records }: ParsedRecords) =>
  records.map(({ name, ttl, type, mx_priority, destination }) =>
    [name, ttl, type, ...(mx_priority === undefined ? [] : [mx_priority]), destination].join(' '),
  );
const errors = (parsed: ParsedRecords) => parsed.errors.map(({ error }) => error);
const skipped = (parsed: ParsedRecords) =>
  parsed.skipped.map(({ name, type, reason }) => `${name} ${type}: ${reason}`);
const warnings = (parsed: ParsedRecords) =>
  parsed.warnings.map(({ code, owner, type }) => `${code} ${printName(owner)} ${type}`);

describe('Route 53 JSON', () => {
  it('is read with aliases, full names, octal escapes and weighted sets', () => {
    const parsed = parse(`{"ResourceRecordSets": [
 {"Name": "stall.example.", "Type": "A", "AliasTarget": {"HostedZoneId": "Z1EXAMPLE", "DNSName": "lb.edge.example.", "EvaluateTargetHealth": false}},
 {"Name": "stall.example.", "Type": "MX", "TTL": 300, "ResourceRecords": [{"Value": "10 post.stall.example"}]},
 {"Name": "\\\\052.stall.example.", "Type": "CNAME", "TTL": 60, "ResourceRecords": [{"Value": "stall.example"}]},
 {"Name": "api.stall.example.", "Type": "A", "SetIdentifier": "one", "Weight": 1, "TTL": 60, "ResourceRecords": [{"Value": "192.0.2.41"}]},
 {"Name": "api.stall.example.", "Type": "A", "SetIdentifier": "two", "Weight": 9, "TTL": 60, "ResourceRecords": [{"Value": "192.0.2.42"}]}
]}`);
    expect(lines(parsed)).toEqual([
      '@ 300 ANAME lb.edge.example',
      '@ 300 MX 10 post.stall.example',
      '* 60 CNAME stall.example',
      'api 60 A 192.0.2.41',
      'api 60 A 192.0.2.42',
    ]);
    expect([parsed.errors, parsed.skipped]).toEqual([[], []]);
    const lost = parsed.warnings.filter(({ code }) => code === 'ROUTING_LOST');
    expect(lost).toEqual([
      {
        ...{ code: 'ROUTING_LOST', owner: parseName('api.stall.example.'), type: 'A', line: 5, column: 2 },
        message: 'the weights of Route 53 are lost: all A records of api.stall.example. are answered',
      },
    ]);
    expect(warnings(parsed)).toContain('TYPE_REPLACED stall.example. ANAME');
  });

  it.each<[string, ReturnType<typeof set>, string]>([
    ['a quoted semicolon', set('t', 'TXT', '"v=DKIM1; p=QUJD"'), 't 300 TXT v=DKIM1; p=QUJD'],
    ['an escaped quote', set('t', 'TXT', '"a \\"b\\""'), 't 300 TXT a "b"'],
    ['several strings', set('t', 'TXT', '"a" "b"'), 't 300 TXT "a" "b"'],
    ['an octal escape in a value', set('t', 'TXT', '"a\\100b"'), 't 300 TXT a@b'],
    ['an escaped backslash', set('t', 'TXT', '"a\\\\100b"'), 't 300 TXT a\\100b'],
    ['an octal escape in a name', set('a\\100b', 'A', '192.0.2.1'), 'a\\064b 300 A 192.0.2.1'],
    ['a service', set('_s._tcp', 'SRV', '1 2 3 h.stall.example'), '_s._tcp 300 SRV 1 2 3 h.stall.example'],
    ['a single label as a host', set('@', 'MX', '10 mail'), '@ 300 MX 10 mail.'],
    ['an authorization', set('@', 'CAA', '0 issue "ca.example; x=y"'), '@ 300 CAA 0 issue "ca.example; x=y"'],
    ['a delegation', set('sub', 'NS', 'ns1.other.example.'), 'sub 300 NS ns1.other.example'],
  ])('is read with %s', (_, one, expected) => {
    const parsed = parseSets(one);
    expect([lines(parsed), errors(parsed)]).toEqual([[expected], []]);
  });

  it('is also read as the plain list that --query prints', () => {
    expect(lines(parse(`\ufeff [${JSON.stringify(set('w', 'A', '192.0.2.1'))}]`))).toEqual([
      'w 300 A 192.0.2.1',
    ]);
    expect(parse('{"ResourceRecordSets": []}')).toEqual({
      records: [],
      errors: [],
      skipped: [],
      warnings: [],
    });
  });

  it('has sets that are not imported, with the reasons of a zone file', () => {
    const parsed = parseSets(
      set('@', 'SOA', 'ns-1.awsdns-01.org. awsdns-hostmaster.amazon.com. 1 7200 900 1209600 86400'),
      set('@', 'NS', 'ns-1.awsdns-01.org.'),
      set('@', 'SPF', '"v=spf1 -all"'),
      set('@', 'TXT', '"v=spf1 -all"'),
      alias('m', 'MX', 'stall.example.'),
    );
    expect(skipped(parsed)).toEqual([
      '@ SOA: the service creates the SOA',
      '@ NS: the nameservers of the domain itself are set by the service',
      'm MX: an alias of type MX has no counterpart here: import the records of stall.example. at this name',
      '@ SPF: the name has a TXT record with an SPF policy, which mail servers use instead (RFC 7208 §3.1)',
    ]);
    expect(lines(parsed)).toEqual(['@ 300 TXT v=spf1 -all']);
  });

  it('has one ANAME for the aliases of a name, and reports the others', () => {
    const parsed = parseSets(
      alias('@', 'A', 'lb.edge.example.'),
      alias('@', 'AAAA', 'LB.edge.example.'),
      alias('w', 'A', 'one.edge.example.', { SetIdentifier: 'a', Region: 'eu-west-1' }),
      alias('w', 'A', 'two.edge.example.', { SetIdentifier: 'b', Region: 'us-east-1' }),
      alias('c', 'CNAME', 'stall.example.'),
      weighted('d', 'CNAME', 'one.example', 'a'),
      weighted('d', 'CNAME', 'two.example', 'b'),
    );
    expect(lines(parsed)).toEqual([
      '@ 300 ANAME lb.edge.example',
      'w 300 ANAME one.edge.example',
      'c 300 ANAME stall.example',
      'd 300 CNAME one.example',
    ]);
    expect(skipped(parsed)).toEqual([
      '@ ANAME: the same record is in line 1',
      'w ANAME: a name can have only one CNAME or ANAME, and this name already has the one in line 1',
      'd CNAME: a name can have only one CNAME or ANAME, and this name already has the one in line 1',
    ]);
    expect(
      parsed.warnings.filter(({ code }) => code === 'ROUTING_LOST').map(({ message }) => message),
    ).toEqual([
      'the latency routing of Route 53 is lost: only the first A alias of w.stall.example. is answered',
      'the weights of Route 53 are lost: only the first CNAME record of d.stall.example. is answered',
    ]);
  });

  const ALIAS = 'only the addresses of w.stall.example. are answered, and its alias is not imported';
  const ADDRESSES =
    'only the first alias of w.stall.example. is answered, and its addresses are not imported';
  it.each([
    [['A', 'alias A'], [ALIAS], ['ANAME']],
    [['alias A', 'A', 'A'], [ADDRESSES], ['A']],
    [['A', 'alias AAAA'], [ALIAS, ALIAS], ['ANAME']],
  ])('has a name with %j, and the import leaves out the later kind', (kinds, lost, leftOut) => {
    const parsed = parseSets(
      ...kinds.map((kind, i) => {
        const [type = '', aliased] = kind.split(' ').reverse();
        if (aliased === undefined) return weighted('w', type, `192.0.2.${i}`, `${i}`);
        return alias('w', type, 'lb.edge.example.', { SetIdentifier: `${i}`, Weight: 1 });
      }),
    );
    const found = (wanted: string) => parsed.warnings.filter(({ code }) => code === wanted);
    expect(found('ROUTING_LOST').map(({ message }) => message)).toEqual(
      lost.map((message) => `the weights of Route 53 are lost: ${message}`),
    );
    expect(found('RECORD_CONFLICT').map(({ type }) => type)).toEqual(leftOut);
  });

  it.each([
    [{ GeoLocation: { CountryCode: 'DE' } }, 'geolocation routing of Route 53 is'],
    [{ Failover: 'PRIMARY' }, 'failover of Route 53 is'],
    [{ MultiValueAnswer: true }, 'health checks of Route 53 are'],
    [{ CidrRoutingConfig: {} }, 'routing of Route 53 is'],
  ])('reports once per name and type that %j is lost', (more, message) => {
    const parsed = parseSets(
      { ...set('w', 'A', '192.0.2.1', '192.0.2.2'), SetIdentifier: 'a', ...more },
      { ...set('w', 'A', '192.0.2.3'), SetIdentifier: 'a', ...more },
    );
    expect(parsed.warnings.map((each) => each.message)).toEqual([
      `the ${message} lost: all A records of w.stall.example. are answered`,
    ]);
    expect(parsed.records).toHaveLength(3);
  });

  it.each<[unknown, string]>([
    [7, ' is not an object'],
    [{ Type: 'A' }, '.Name is not a string'],
    [set('a..stall.example.', 'A', '192.0.2.1'), '.Name: "a..stall.example." has an empty label'],
    [set('a\\399', 'A', '192.0.2.1'), '.Name: "\\399" is not an octal escape, \\000 to \\377'],
    [set('other.example.', 'A', '192.0.2.1'), '.Name: other.example. is not in the zone stall.example.'],
    [{ Name: 'stall.example.' }, '.Type is not a string'],
    [set('@', 'BOGUS', 'x'), '.Type: "BOGUS" is not a known record type'],
    [{ ...set('@', 'A', '192.0.2.1'), TTL: '60' }, '.TTL is not a number of seconds'],
    [{ Name: 'stall.example.', Type: 'A', TTL: 60 }, ' has neither ResourceRecords nor AliasTarget'],
    [{ ...set('@', 'A'), ResourceRecords: [{}] }, '.ResourceRecords[0].Value is not a string'],
    [{ Name: 'stall.example.', Type: 'A', AliasTarget: {} }, '.AliasTarget.DNSName is not a string'],
    [set('@', 'A', 'x'), '.ResourceRecords[0].Value: "x" is not an IPv4 address'],
    [set('@', 'TXT', 'v=DKIM1; p=x'), '.ResourceRecords[0].Value has ";" outside quotes'],
    [set('@', 'TXT', '"a"\n"b"'), '.ResourceRecords[0].Value has several lines'],
    [set('@', 'TXT', ''), '.ResourceRecords[0].Value is empty'],
  ])('reports the element %j with its index and field', (element, error) => {
    const parsed = parseSets(element, set('w', 'A', '192.0.2.2'));
    expect(errors(parsed)).toEqual([expect.stringContaining(`ResourceRecordSets[0]${error}`)]);
    expect(lines(parsed)).toEqual(['w 300 A 192.0.2.2']);
  });

  it('has errors, skipped sets and warnings at the line where the element begins', () => {
    const parsed = parse(`{
  "ResourceRecordSets": [
    {
      "Name": "a.stall.example.", "Type": "A", "TTL": 60,
      "ResourceRecords": [{"Value": "[}\\"{"}]
    }, {
      "Name": "stall.example.", "Type": "NS", "TTL": 60,
      "ResourceRecords": [{"Value": "ns.other.example"}]
    },
\t{"Name": "w.stall.example.", "Type": "A", "AliasTarget": {"DNSName": "lb.edge.example"}}
  ]
}`);
    expect(parsed.errors.map(({ line, column }) => [line, column])).toEqual([[3, 5]]);
    expect(parsed.skipped.map(({ line }) => line)).toEqual([6]);
    expect(parsed.warnings.map(({ line, column }) => [line, column])).toEqual([[10, 2]]);
  });

  const EARLY = 'the JSON ends too early: the file is not complete';
  const ANOTHER = ': the list continues in another file, which is not read';
  it.each([
    ['an end in the middle', '{"ResourceRecordSets": [SET, {"Name": "b', EARLY],
    ['an end after a set', '{"ResourceRecordSets": [SET,', EARLY],
    [
      'text that is not JSON',
      '{"ResourceRecordSets": [SET, {Name: 1}]}',
      'ResourceRecordSets[1] is not valid JSON',
    ],
    [
      'more text after it',
      '{"ResourceRecordSets": [SET]}\n{"ResourceRecordSets": []}',
      'the JSON ends before this text: import each file separately',
    ],
    ['a next page', '{"ResourceRecordSets": [SET], "NextToken": "x"}', `NextToken${ANOTHER}`],
    ['a page of a raw answer', '{"ResourceRecordSets": [SET], "IsTruncated": true}', `IsTruncated${ANOTHER}`],
  ])('reports %s once, and reads the sets before it', (_, text, error) => {
    const parsed = parse(text.replace('SET', JSON.stringify(set('w', 'A', '192.0.2.1'))));
    expect([lines(parsed), errors(parsed)]).toEqual([['w 300 A 192.0.2.1'], [error]]);
  });

  it('never causes an exception if it is damaged', () => {
    const text = JSON.stringify(
      { a: [1, '\\"'], ResourceRecordSets: [set('w', 'TXT', '"a\\100"')] },
      null,
      1,
    );
    const piece = fc.array(fc.constantFrom(...'{}[]",:\\\n 0a'), { maxLength: 4 }).map((all) => all.join(''));
    const place = fc.nat({ max: text.length });
    fc.assert(
      fc.property(place, place, piece, (from, to, inserted) => {
        const parsed = parse(text.slice(0, from) + inserted + text.slice(to));
        for (const { line, column } of parsed.errors) expect(Math.min(line, column)).toBeGreaterThan(0);
      }),
      { numRuns: scale(2000, 100) },
    );
  });

  it('is read to its end or to the first value that is too large', () => {
    expect(parseSets(...Array(10_100).fill(7)).errors).toHaveLength(10_000);
    for (const text of [
      `{"ResourceRecordSets": [${'['.repeat(100_000)}`,
      `{"ResourceRecordSets": [{"Name": "${'x'.repeat(2_000_000)}"}]}`,
      `{"ResourceRecordSets": [{${Array.from({ length: 100_000 }, (_, i) => `"${i}": 0`).join()}}]}`,
    ])
      expect(errors(parse(text))).toEqual(['this value is too large for a record set']);
  });
});

describe('other JSON', () => {
  it.each([
    '{"records": [{"name": "www", "type": "A"}]}',
    '[{"name": "www", "type": "A"}]',
    '{}',
    '[]',
    '{"a": {"ResourceRecordSets": []}',
    '{"ResourceRecordSets": {}}',
    '{"ResourceRecordSets',
    '\ufeff\n  [1, 2]',
    `{"a": "${'x'.repeat(2_000_000)}", "ResourceRecordSets": []}`,
  ])('causes one error that names the formats that can be imported: %.60s', (text) => {
    const parsed = parse(text);
    expect(parsed).toMatchObject({ records: [], skipped: [], warnings: [] });
    expect(parsed.errors).toEqual([
      {
        ...{ line: 1, column: 1 },
        error:
          'this is JSON, not a zone file: import a zone file (BIND), or the JSON of `aws route53 list-resource-record-sets`',
      },
    ]);
  });
});
