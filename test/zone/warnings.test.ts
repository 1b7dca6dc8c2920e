import { describe, expect, it } from 'vitest';
import { type Name, parseName } from '../../src/dns/name.ts';
import { inOneGo } from '../../src/dns/zone-file/in-one-go.ts';
import { parseRecords } from '../../src/zone/import/parse-records.ts';
import { targetOf } from '../../src/zone/records/rdata-key.ts';
import { namesBetween, printRecordName } from '../../src/zone/records/record-name.ts';
import {
  brokenHosts,
  EditedZone,
  namesBeside,
  recordsToJudge,
  unwrittenRecords,
} from '../../src/zone/warnings/edit-warnings.ts';
import { findWarnings } from '../../src/zone/warnings/find-warnings.ts';
import { ZoneIndex } from '../../src/zone/warnings/zone-view.ts';
import { rowsOf } from '../support/tests/rows-of.ts';
import { edit, editLines, editState, newRecord, records } from '../support/zone/customer-records.ts';
import { planEdit } from '../support/zone/plan-edit.ts';
import { recordsOf } from '../support/zone/zone-text.ts';

const APEX = parseName('shop.example.');

/** Returns each warning as its line and code. */
function codesOf(lines: readonly string[], origin = APEX): string[] {
  const { warnings } = inOneGo(parseRecords(lines.join('\n'), origin));
  return warnings.map(({ line, code }) => `${line} ${code}`);
}

describe('the text of a zone file', () => {
  it.each(
    rowsOf(`
a host in the domain without its final dot | www CNAME shop.example | MISSING_FINAL_DOT
a host below a public suffix without its final dot | @ MX 10 mx.mail.com | MISSING_FINAL_DOT
an owner that ends in the domain without its final dot | www.shop.example A 192.0.2.1 | MISSING_FINAL_DOT
an owner with @ as a label | _x._tls.@ SRV 1 1 443 sip.calls.example. | AT_SIGN_IN_NAME
a DMARC policy that ends at ; | _dmarc TXT v=DMARC1; p=reject | POLICY_CUT
a DKIM key that ends at ; | k._domainkey TXT v=DKIM1;p=QUJD | POLICY_CUT
an SPF policy of several strings | @ TXT v=spf1 mx -all | SPF_SPLIT
an octal escape of Route 53 for * | \\052.shop.example. A 192.0.2.1 | OCTAL_ESCAPE
an octal escape of Route 53 for @ | \\100.shop.example. TXT "x" | OCTAL_ESCAPE
an IPv4 address as a host | a MX 10 192.0.2.1 | TARGET_IS_ADDRESS
an IPv6 address as a host | a NS 2001:db8::1 | TARGET_IS_ADDRESS
a mail address as a host | a MX 10 post@example.net. | AT_SIGN_IN_NAME
an $ORIGIN without its final dot | $ORIGIN shop.example / www A 192.0.2.1 | MISSING_FINAL_DOT
a NAPTR without its final dot | a NAPTR 1 1 "s" "SIP+D2U" "" _sip._udp.calls.com | MISSING_FINAL_DOT
a URL as a host | a CNAME https://shop.example/ | TARGET_IS_URL
a whole SRV as a host | a CNAME 5\\03210\\0325061\\032sip.out.example. | TARGET_HAS_BLANKS`),
  )('%s causes a warning', (_, line, code) => {
    const lines = line.split(' / ');
    expect(codesOf(lines)).toEqual([`${lines.length} ${code}`]);
  });

  it.each([
    'full CNAME a.b.net.',
    'shop CNAME www',
    'h CNAME a.b',
    'plain TXT hello ; a comment',
    '_mta-sts TXT "v=STSv1; id=7"',
    '@ TXT "v=spf1 mx -all"',
    '@ TXT "v=spf1 " "mx -all"',
    'a MX 10 a\\@b.example.net.',
    '\\042x A 192.0.2.1',
    'e CNAME 1-2-3-4.out.example.',
    'e CNAME _x.out.example.',
    '1.2.3.4 PTR host.example.',
  ])('%s causes no warning', (line) => {
    expect(codesOf([line])).toEqual([]);
  });

  it('a host that exists as written is correct', () => {
    expect(codesOf(['www CNAME web.dev', 'web.dev A 192.0.2.1'])).toEqual([]);
  });

  it('lost routing of Route 53 is reported once per name', () => {
    const lines = ['1', '2'].map((n) => `w A 192.0.2.${n} ; AWS routing="WEIGHTED" weight=${n}0`);
    expect(codesOf(lines)).toEqual(['1 ROUTING_LOST']);
  });

  it('with added dots, hosts of several labels are full names, and so are owners in the domain', () => {
    const text =
      '$ORIGIN shop.example\nwww.shop.example CNAME cdn.host.net\na.b CNAME www\n@ MX 10 mx.mail.com';
    const { records, warnings } = inOneGo(parseRecords(text, APEX, { addDots: true }));
    expect(records.map(({ name, destination }) => `${name} ${destination}`)).toEqual([
      'www cdn.host.net',
      'a.b www.shop.example',
      '@ mx.mail.com',
    ]);
    expect(warnings).toEqual([]);
  });
});

describe('the records of a zone', () => {
  it.each(
    rowsOf(`
an MX to a CNAME | @ MX 10 m / m CNAME p / p A 192.0.2.1 | 1 TARGET_IS_CNAME
an MX to a wildcard CNAME | @ MX 10 m / * CNAME p.example. | 1 TARGET_IS_CNAME
an MX to a name without an address | @ MX 10 gone | 1 TARGET_WITHOUT_ADDRESS
an SRV to a name without an address | _s._tcp SRV 0 0 1 gone | 1 TARGET_WITHOUT_ADDRESS
a delegation without glue | kid NS ns.kid | 1 MISSING_GLUE
a record below a delegation | kid NS ns.out.example. / www.kid A 192.0.2.1 | 2 BELOW_ZONE_CUT
an address at a delegation | kid NS ns.out.example. / kid A 192.0.2.1 | 2 BELOW_ZONE_CUT
two SPF policies | @ TXT "v=spf1 -all" / @ TXT "v=sp" "f1 mx -all" | 1 MANY_SPF
an SPF policy of several strings, in quotes | @ TXT "v=spf1" "mx -all" | 1 SPF_SPLIT
a null MX in addition to another | n MX 0 . / n MX 10 mx.out.example. | 1 NULL_MX_NOT_ALONE
parameters of an alias | a HTTPS 0 pool.out.example. alpn=h2 | 1 ALIAS_MODE_PARAMETERS
a name that a wildcard no longer answers | * A 192.0.2.1 / _acme-challenge.www TXT t | 2 WILDCARD_SHADOWED`),
  )('%s causes a warning', (_, zone, expected) => {
    expect(codesOf(zone.split(' / '))).toEqual([expected]);
  });

  it.each([
    '@ MX 10 mx.out.example.',
    '@ MX 10 m / m A 192.0.2.1',
    '@ MX 10 m / * AAAA 2001:db8::1',
    '@ MX 10 m / m ALIAS out.example.',
    '@ MX 10 m.kid / kid NS ns.out.example.',
    'kid NS ns.kid / ns.kid A 192.0.2.1 / kid DS 1 13 2 0000000000000000000000000000000000000000000000000000000000000000',
    'n MX 0 . / n A 192.0.2.1',
    'a HTTPS 0 pool.out.example.',
    'a HTTPS 1 . alpn=h2',
    '* A 192.0.2.1 / www A 192.0.2.2 / _acme-challenge.www TXT t',
    '* A 192.0.2.1 / _acme-challenge TXT t',
    '* A 192.0.2.1 / *.apps A 192.0.2.2',
    '* A 192.0.2.1 / 2.1 A 192.0.2.2',
    '* A 192.0.2.1 / k._domainkey TXT "v=DKIM1; p=QUJD"',
    '*._report._dmarc TXT "v=DMARC1" / shop.net._report._dmarc TXT "v=DMARC1"',
    '@ TXT "v=spf1 -all" / @ TXT "v=spf10 is text"',
  ])('%s causes none', (zone) => {
    expect(codesOf(zone.split(' / '))).toEqual([]);
  });

  it('a warning shows the type of the record, and is given for each set below a delegation', () => {
    const typesOf = (...lines: string[]) =>
      inOneGo(parseRecords(lines.join('\n'), APEX)).warnings.map(({ code, type }) => `${code} ${type}`);
    expect(
      typesOf('k ALIAS shop.example', 'sub NS ns.out.example.', 'a.sub ANAME x.', 'a.sub TXT x'),
    ).toEqual(['MISSING_FINAL_DOT ANAME', 'BELOW_ZONE_CUT ANAME', 'BELOW_ZONE_CUT TXT']);
  });

  it('a host that was misread is not also reported as one without addresses', () => {
    expect(codesOf(['@ MX 10 mx.mail.com'])).toEqual(['1 MISSING_FINAL_DOT']);
  });

  it('is read once per set, however many records the set has', () => {
    let reads = 0;
    class CountedZone extends ZoneIndex {
      override rdataAt(name: Name, type: number) {
        if (name === APEX) reads++;
        return super.rdataAt(name, type);
      }
    }
    const zone = new CountedZone(APEX);
    const text = Array.from({ length: 500 }, (_, n) => `@ MX ${n} m${n}\n@ TXT "v=spf1 a:${n}.example -all"`);
    const records = recordsOf(text.join('\n'), 'shop.example.');
    for (const record of records) zone.add(record);
    inOneGo(findWarnings(zone, records));
    expect(reads).toBeLessThan(10);
  });

  it('has a bounded number of warnings', () => {
    const lines = Array.from({ length: 1010 }, (_, n) => `n${n} MX 10 gone${n}`);
    expect(codesOf(lines)).toHaveLength(1000);
  });
});

describe('an edit', () => {
  /** Returns the warnings for new records in a domain with the records `before`. */
  function warningsOf(create: readonly string[], before: readonly string[]): string[] {
    const known = records(before);
    const ops = create.map((line) => ({ op: 'create', after: newRecord(line) }) as const);
    const apex = parseName('example.com.');
    const zone = new EditedZone(apex, known, ops);
    const written = recordsToJudge(ops);
    const former = known.flatMap(({ name }) => [...namesBetween(name, apex)]);
    zone.setFormerNames(new Set(former));
    return inOneGo(findWarnings(zone, written)).map(({ code }) => code);
  }

  it.each(
    rowsOf(`
t MX 10 gone.example.com | a A 192.0.2.1 | TARGET_WITHOUT_ADDRESS
t MX 10 a.example.com | a A 192.0.2.1 |
t MX 10 a.example.com | a CNAME b.example.net ; proxied |
t MX 10 a.example.com | a ANAME b.example.net |
t MX 10 mx.example.net | t MX 0 . | NULL_MX_NOT_ALONE
@ TXT v=spf1 -all | @ TXT v=spf1 mx -all | MANY_SPF
_acme-challenge.www TXT t | * A 192.0.2.1 | WILDCARD_SHADOWED
_acme-challenge.www TXT t | * A 192.0.2.1 / x.www A 192.0.2.1 |
x.www A 192.0.2.2 | * A 192.0.2.1 | WILDCARD_SHADOWED`),
  )('that creates %s in addition to %s causes the warning %s', (line, before, ...expected) => {
    expect(warningsOf([line], before.split(' / '))).toEqual(expected.filter((code) => code !== ''));
  });

  /** Returns the warnings about records that the edit does not write, and the hosts that it breaks. */
  function brokenBy(items: readonly string[], before: readonly string[]): string[] {
    const state = editState(before);
    const plan = planEdit(state, edit(editLines(items)));
    if (plan.kind === 'problems') throw new Error(JSON.stringify(plan.problems));
    const { apex, records: known } = state;
    const zone = new EditedZone(apex, known, plan.ops);
    const hosts = brokenHosts(zone, plan.ops);
    const naming = known.filter(({ type, rdata }) => hosts.some((host) => host === targetOf(type, rdata)));
    return inOneGo(findWarnings(zone, unwrittenRecords(naming, plan.ops))).map(
      ({ owner, type, code }) => `${printRecordName(owner, apex)} ${type} ${code}`,
    );
  }

  it.each(
    rowsOf(`
delete 1 | a A 192.0.2.1 / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
delete 1 | a A 192.0.2.1 / _s._tcp SRV 0 0 1 a.example.com | _s._tcp SRV TARGET_WITHOUT_ADDRESS
delete 1 | a A 192.0.2.1 / kid NS a.example.com | kid NS TARGET_WITHOUT_ADDRESS
delete 1 | @ A 192.0.2.1 / t MX 10 example.com | t MX TARGET_WITHOUT_ADDRESS
delete 1 | a ANAME b.example.net / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
delete 1 | a CNAME b.example.net ; proxied / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
delete 1 | ns.kid A 192.0.2.1 / kid NS ns.kid.example.com | kid NS MISSING_GLUE
delete 1 | a A 192.0.2.1 / a AAAA 2001:db8::1 / t MX 10 a.example.com |
delete 1 | a A 192.0.2.1 / * A 192.0.2.2 / t MX 10 a.example.com |
delete 1 | a A 192.0.2.1 / a TXT x / * A 192.0.2.2 / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
delete 1 | a CNAME b.example.net / t MX 10 a.example.com |
delete 1 2 | a A 192.0.2.1 / t MX 10 a.example.com |
delete 1, update 2 ttl=60 | a A 192.0.2.1 / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
delete 1, update 2 destination=b.example.com | a A 192.0.2.1 / t MX 10 a.example.com |
delete 1, create a CNAME b.example.net | a A 192.0.2.1 / t MX 10 a.example.com | t MX TARGET_IS_CNAME
create a CNAME b.example.net | x A 192.0.2.1 / t MX 10 a.example.com | t MX TARGET_IS_CNAME
update 1 proxied=false | a CNAME b.example.net ; proxied / t MX 10 a.example.com | t MX TARGET_IS_CNAME
update 1 destination=c.example.net | a CNAME b.example.net / t MX 10 a.example.com |
update 1 name=b | a A 192.0.2.1 / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
update 1 type=TXT destination=x | a A 192.0.2.1 / t MX 10 a.example.com | t MX TARGET_WITHOUT_ADDRESS
update 1 destination=192.0.2.9 | a A 192.0.2.1 / t MX 10 a.example.com |
update 1 type=AAAA destination=2001:db8::1 | a A 192.0.2.1 / t MX 10 a.example.com |
delete 1 | a A 192.0.2.1 / n MX 0 . / n MX 10 a.example.com / _x.w TXT t / * TXT t | n MX TARGET_WITHOUT_ADDRESS`),
  )('with the items %s, in a domain with %s, causes %s', (items, before, ...expected) => {
    const warnings = brokenBy(items.split(', '), before.split(' / '));
    expect(warnings).toEqual(expected.filter((warning) => warning !== ''));
  });

  it('causes no warning if it only changes settings', () => {
    const [before] = records(['t MX 10 gone.example.com']);
    if (before === undefined) throw new Error('no record');
    expect(recordsToJudge([{ op: 'update', before, after: { ...before, comment: 'x' } }])).toEqual([]);
  });

  it('needs the wildcards above a name, and the records at a host and above it', () => {
    const beside = (line: string) => {
      const { name: owner, type, rdata } = newRecord(line);
      const code = { A: 1, MX: 15 }[type as 'A' | 'MX'];
      return [...namesBeside({ owner, type: code, rdata }, parseName('example.com.'))];
    };
    const names = (...texts: string[]): Name[] => texts.map((text) => parseName(`${text}.example.com.`));
    expect(beside('www A 192.0.2.1')).toEqual([]);
    expect(beside('a.b A 192.0.2.1')).toEqual(names('*'));
    expect(beside('www MX 10 a.b.example.com')).toEqual(names('a.b', 'b', '*.b', '*'));
    expect(beside('www MX 10 a.example.net')).toEqual([]);
  });
});
