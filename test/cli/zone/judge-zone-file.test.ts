import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { judgeZoneFile, printProblem } from '../../../src/cli/zone/judge-zone-file.ts';
import { type Name, parseName, printName } from '../../../src/dns/name.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../../support/zone/zone-folder.ts';

const NOW = 1_800_000_000;

let folder: ZoneFolder;

beforeAll(() => {
  folder = makeZoneFolder();
});
afterAll(() => folder.remove());

function judge(content: string | Uint8Array, origin?: Name) {
  const path = folder.write('judged.zone', content);
  return judgeZoneFile({ name: 'judged.zone', path }, { origin, at: NOW });
}

function problemsOf(content: string | Uint8Array): string[] {
  const judged = judge(content);
  return judged.kind === 'good' ? [] : judged.problems.map(printProblem);
}

describe('a good zone file', () => {
  it('gives its zone, named by the SOA, and its records as they are served', () => {
    const judged = judge(
      smallZone('Example.COM.', 'www 60 A 192.0.2.2\nwww 60 A 192.0.2.2\nWWW A 192.0.2.3\n'),
    );
    if (judged.kind === 'refused') throw new Error(judged.problems.map(printProblem).join());
    expect(printName(judged.apex)).toBe('example.com.');
    expect(judged.records).toHaveLength(5); // the repeated address counts once
    const www = judged.records.filter(({ owner }) => owner === parseName('www.example.com.'));
    expect(www.map(({ ttl }) => ttl)).toEqual([60, 60]);
  });

  it('takes names from --origin where the text does not say', () => {
    const judged = judge('@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns\n', parseName('example.net.'));
    expect(judged).toMatchObject({ kind: 'good', apex: parseName('example.net.') });
  });

  it('may hold comments in an old encoding', () => {
    const latin1 = Buffer.from(smallZone('example.com.', '; Schl\xfcssel\nwww A 192.0.2.2\n'), 'latin1');
    expect(problemsOf(latin1)).toEqual([]);
  });
});

describe('a bad zone file', () => {
  it('is refused with every problem of its text, by line and column', () => {
    expect(problemsOf(smallZone('example.com.', 'a A 1.2.3\n\nb MX x y\nc NOSUCH 1\n'))).toEqual([
      expect.stringMatching(/^judged\.zone:6:5: address: .*1\.2\.3/),
      expect.stringMatching(/^judged\.zone:8:6: preference: /),
      expect.stringMatching(/^judged\.zone:9:3: type: .*NOSUCH/),
    ]);
  });

  it('is refused when it holds a mark, which only a customer’s domain can have', () => {
    expect(problemsOf(smallZone('example.com.', 'a TYPE0 \\# 0\n'))).toEqual([
      expect.stringMatching(/^judged\.zone:6:3: type: a zone cannot hold records of type TYPE0$/),
    ]);
  });

  it('is refused with every problem of its zone, at the record concerned', () => {
    const problems = problemsOf(
      smallZone('example.com.', `a CNAME b\na A 192.0.2.1\n@ DS 1 8 1 ${'00'.repeat(20)}\n`),
    );
    expect(problems).toContainEqual(
      expect.stringMatching(/^judged\.zone:7:1: a\.example\.com\. has both CNAME and A$/),
    );
    expect(problems.length).toBeGreaterThanOrEqual(2);
  });

  it('names the included file in which the problem stands', () => {
    folder.write('part.inc', 'ok A 192.0.2.9\nbad A nowhere\n');
    expect(problemsOf(smallZone('example.com.', '$INCLUDE part.inc\n'))).toEqual([
      expect.stringMatching(/^part\.inc:2:7: address: /),
    ]);
    const path = folder.write('outer.zone', smallZone('example.com.', '$INCLUDE part.inc\n'));
    const judged = judgeZoneFile({ name: 'zones/outer.zone', path }, { origin: undefined, at: NOW });
    expect(judged.kind === 'refused' && judged.problems[0]?.file).toBe('zones/part.inc');
  });

  it('is refused when a record has octets that are not UTF-8: they would be stored as others', () => {
    const latin1 = Buffer.from(
      smallZone('example.com.', '; gr\xfcn\nt TXT "gr\xfcn"\nu TXT "gr\\252n"\n'),
      'latin1',
    );
    expect(problemsOf(latin1)).toEqual([expect.stringMatching(/^judged\.zone:7:7: .*not UTF-8/)]);
  });

  it('without SOA is refused with the words to mend it', () => {
    expect(judge('www.example.com. 60 A 192.0.2.1\n')).toMatchObject({
      kind: 'refused',
      apex: undefined,
      problems: [{ line: 1, message: expect.stringMatching(/no SOA/) }],
    });
  });

  it('that cannot be read is refused, not a crash', () => {
    const judged = judgeZoneFile(
      { name: 'x', path: join(folder.path, 'missing.zone') },
      { origin: undefined, at: NOW },
    );
    expect(judged).toMatchObject({ kind: 'refused', problems: [{ file: 'x', message: 'no such file' }] });
    const itself = judgeZoneFile({ name: 'x', path: folder.path }, { origin: undefined, at: NOW });
    expect(itself).toMatchObject({ kind: 'refused', problems: [{ message: 'a folder, not a file' }] });
  });
});
