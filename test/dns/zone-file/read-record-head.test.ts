import { describe, expect, it } from 'vitest';
import type { Token } from '../../../src/dns/record/token.ts';
import { TYPE } from '../../../src/dns/type-codes.ts';
import { type RecordHead, readRecordHead } from '../../../src/dns/zone-file/read-record-head.ts';
import { ZoneFileProblems } from '../../../src/dns/zone-file/zone-file-problems.ts';

function read(text: string): { head: RecordHead | undefined; problems: string[] } {
  const problems = new ZoneFileProblems(undefined);
  let column = 1;
  const tokens: Token[] = text.split(' ').map((word) => {
    const quoted = word.startsWith('"');
    const token = { text: word.replaceAll('"', ''), quoted, line: 1, column };
    column += word.length + 1;
    return token;
  });
  const head = readRecordHead(tokens, 0, problems);
  return {
    head,
    problems: problems.list.map((one) => `${one.column} ${one.field}: ${one.message.replace(/ \(.*/, '')}`),
  };
}

describe('TTL, class and type', () => {
  it.each([
    ['A x', { ttl: undefined, type: TYPE.A, next: 1 }],
    ['IN A x', { ttl: undefined, type: TYPE.A, next: 2 }],
    ['300 A x', { ttl: 300, type: TYPE.A, next: 2 }],
    ['300 IN A x', { ttl: 300, type: TYPE.A, next: 3 }],
    ['IN 300 A x', { ttl: 300, type: TYPE.A, next: 3 }],
    ['in 1h30m mx x', { ttl: 5400, type: TYPE.MX, next: 3 }],
    ['CLASS1 1W TYPE65280', { ttl: 604_800, type: 65_280, next: 3 }],
    ['0 TYPE1', { ttl: 0, type: TYPE.A, next: 2 }],
    ['2147483647 A', { ttl: 2_147_483_647, type: TYPE.A, next: 2 }],
  ])('are read from "%s"', (text, head) => {
    expect(read(text)).toEqual({ head: { ttlFailed: false, ...head }, problems: [] });
  });

  it.each([
    ['2147483648 A x', '1 ttl: the TTL 2147483648 is more than 2147483647'],
    ['3551w A x', '1 ttl: the TTL 3551w is more than 2147483647'],
    ['1h30 A x', '1 ttl: "1h30" is not a TTL such as 3600 or 1h30m'],
    ['99999999999999999999 A x', '1 ttl: "99999999999999999999" is not a TTL such as 3600 or 1h30m'],
    ['300 300 A x', '5 type: "300" is not a known record type'],
    ['IN IN A x', '4 type: "IN" is not a known record type'],
    ['CH A x', '1 class: class CH is not served, only IN'],
    ['CLASS255 A x', '1 class: class CLASS255 is not served, only IN'],
    ['FOO x', '1 type: "FOO" is not a known record type'],
    ['TYPE65536 x', '1 type: "TYPE65536" is not a known record type'],
    ['"A" x', '1 type: "A" is not a known record type'],
    ['ANY x', '1 type: a zone cannot hold records of type ANY'],
    ['OPT x', '1 type: a zone cannot hold records of type OPT'],
    ['TYPE0 x', '1 type: a zone cannot hold records of type TYPE0'],
    ['TYPE200 x', '1 type: a zone cannot hold records of type TYPE200'],
    ['300 IN', '5 type: the line ends before a record type'],
  ])('are a problem in "%s"', (text, problem) => {
    expect(read(text).problems).toEqual([problem]);
  });
});
