// Parsing and validation of zone files by the zone commands.

import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { checkZoneFiles } from '../../src/cli/zone/check-zone-files.ts';
import {
  type CollectedZones,
  collectZones,
  type RefusedFile,
  refusedItem,
} from '../../src/cli/zone/collect-zones.ts';
import { judgeZoneFile, printProblem } from '../../src/cli/zone/judge-zone-file.ts';
import { readKeyFile } from '../../src/cli/zone/transfer-key.ts';
import { type Name, parseName, printName, ROOT } from '../../src/dns/name.ts';
import { signZoneText } from '../support/dnssec/sign-zone-text.ts';
import { makeKey } from '../support/dnssec/signing.ts';
import { captureOutput } from '../support/tests/captured-output.ts';
import { makeZoneFolder, smallZone, type ZoneFolder } from '../support/zone/zone-folder.ts';

const NOW = 1_800_000_000;

describe('zone check', () => {
  let folder: ZoneFolder;

  beforeAll(() => {
    folder = makeZoneFolder();
  });
  afterAll(() => folder.remove());

  async function check(json: boolean) {
    const captured = captureOutput(json);
    const { signal } = new AbortController();
    const order = { paths: [folder.path], origin: undefined, at: NOW, signal };
    const code = await checkZoneFiles(order, captured.output);
    return { code, out: captured.out, err: captured.err };
  }

  it('lists valid files with warnings about their records', async () => {
    folder.write('a.zone', smallZone('a.example.'));
    expect(await check(false)).toEqual({
      code: 0,
      out: 'good a.example. records 3\nfiles 1 good 1 records 3 refused 0\n',
      err: '',
    });
    const file = folder.write('w.zone', smallZone('w.example.', '@ MX 10 gone\n'));
    expect((await check(false)).err).toBe(`${file}:6:1: warning: gone.w.example. has no address\n`);
    const warning = { line: 6, name: 'w.example.', type: 'MX', code: 'TARGET_WITHOUT_ADDRESS' };
    expect(JSON.parse((await check(true)).out).files).toContainEqual(
      expect.objectContaining({ file, outcome: 'good', warnings: [expect.objectContaining(warning)] }),
    );
    rmSync(file);
  });

  it.each([
    ['JSON', '{"ResourceRecordSets": [\n]}\n'],
    ['CSV', 'Name,Type,TTL,Value\n@,A,60,192.0.2.1\n'],
  ])('reports one problem for a %s file', async (format, text) => {
    const file = folder.write('other.zone', text);
    expect((await check(false)).err).toBe(`${file}: this is ${format}, not a zone file\n`);
    rmSync(file);
  });

  it('exits with 1 for an invalid file, and prints its problems', async () => {
    const bad = folder.write('b.zone', smallZone('b.example.', 'x A nowhere\n'));
    const text = await check(false);
    expect(text).toMatchObject({ code: 1, err: expect.stringContaining(`${bad}:6:5: address: `) });
    const { code, out } = await check(true);
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({
      files: [
        { file: bad, outcome: 'refused', problems: [{ line: 6, column: 5 }] },
        { outcome: 'good', zone: 'a.example.', records: 3 },
      ],
      summary: { files: 2, good: 1, refused: 1, records: 3, complete: true },
    });
  });

  it('accepts a signed file, and prints warnings about its signatures', async () => {
    const key = makeKey(13);
    const time = { inception: NOW - 1000, expiration: NOW + 3600 };
    const zone = {
      apex: 'signed.example.',
      text: 'signed.example. 60 SOA ns h 1 2 3 4 5\nsigned.example. 60 NS ns.signed.example.',
    };
    folder.write('b.zone', signZoneText(zone, key, time).text);
    const people = await check(false);
    expect(people.code).toBe(0);
    expect(people.out).toMatch(/^good signed\.example\. records 8$/m);
    expect(people.err.split('\n')[0]).toMatch(
      /b\.zone:\d+:1: warning: signed\.example\. SOA: a signature expires in 1 hours$/,
    );
    const { files } = JSON.parse((await check(true)).out);
    const [first] = files.find(({ zone }: { zone: string }) => zone === 'signed.example.').warnings;
    expect(first).toEqual({
      file: expect.stringMatching(/b\.zone$/),
      line: expect.any(Number),
      column: 1,
      code: 'EXPIRES_SOON',
      message: 'signed.example. SOA: a signature expires in 1 hours',
    });
  });
});

describe('zones read from files', () => {
  let folder: ZoneFolder;
  let refused: RefusedFile[];

  beforeEach(() => {
    folder = makeZoneFolder();
    refused = [];
  });
  afterEach(() => folder.remove());

  function collect(
    options: { origin?: Name; keepRecords?: number; signal?: AbortSignal } = {},
  ): Promise<CollectedZones> {
    return collectZones([folder.path], {
      origin: options.origin,
      at: 1_800_000_000,
      keepRecords: options.keepRecords ?? 1000,
      signal: options.signal ?? new AbortController().signal,
      refuse: async (file) => {
        refused.push(file);
      },
    });
  }

  const names = (collected: CollectedZones) => collected.zones.map(({ apex }) => printName(apex));
  const problems = () => refused.flatMap((file) => refusedItem(file).problems ?? []);

  it('an invalid file does not keep valid ones from being collected', async () => {
    folder.write('a.zone', smallZone('a.example.'));
    folder.write('b.zone', 'nonsense\n');
    folder.write('c.zone', smallZone('c.example.'));
    const collected = await collect();
    expect(names(collected)).toEqual(['a.example.', 'c.example.']);
    expect(collected).toMatchObject({ files: 3, refused: 1 });
    expect(refused.map(({ file }) => file)).toEqual([join(folder.path, 'b.zone')]);
  });

  describe('two files for one zone', () => {
    it('are both rejected, each naming the other', async () => {
      const one = folder.write('1.zone', smallZone('same.example.'));
      const two = folder.write('2.zone', smallZone('SAME.example.', 'x A 192.0.2.7\n'));
      folder.write('3.zone', smallZone('other.example.'));
      expect(names(await collect())).toEqual(['other.example.']);
      expect(problems()).toEqual([
        `${one}:3:1: same.example. is also in ${two}; load only one of them`,
        `${two}:3:1: same.example. is also in ${one}; load only one of them`,
      ]);
    });

    it('are both rejected even if one is invalid, because it is unknown which is meant', async () => {
      folder.write('1.zone', smallZone('same.example.'));
      folder.write('2.zone', smallZone('same.example.', 'x A nowhere\n'));
      const collected = await collect();
      expect(names(collected)).toEqual([]);
      expect(collected.refused).toBe(2);
    });

    it('in one folder name a few of the others and count the rest', async () => {
      for (let i = 0; i < 9; i++) folder.write(`${i}.zone`, smallZone('same.example.'));
      expect(await collect({ origin: parseName('same.example.') })).toMatchObject({ files: 9, refused: 9 });
      for (const problem of problems())
        expect(problem).toMatch(/[0-9]\.zone and 5 more files; load only one of them$/);
    });
  });

  it('only a limited number of records wait in memory, and an interrupt ends the reading', async () => {
    for (let i = 0; i < 10; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
    const collected = await collect({ keepRecords: 10 }); // three per zone
    expect(collected.zones.filter(({ records }) => records !== undefined)).toHaveLength(3);
    expect(collected.zones.every(({ count }) => count === 3)).toBe(true);
    for (let i = 0; i < 3; i++) folder.write(`${i}.zone`, smallZone(`z${i}.example.`));
    expect((await collect({ signal: AbortSignal.abort() })).zones).toEqual([]);
  });
});

describe('one zone file', () => {
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
    it('returns its zone, named by the SOA, and the records that are served', () => {
      const judged = judge(
        smallZone('Example.COM.', 'www 60 A 192.0.2.2\nwww 60 A 192.0.2.2\nWWW A 192.0.2.3\n'),
      );
      if (judged.kind === 'refused') throw new Error(judged.problems.map(printProblem).join());
      expect(printName(judged.apex)).toBe('example.com.');
      expect(judged.records).toHaveLength(5); // the duplicate address is ignored
      const www = judged.records.filter(({ owner }) => owner === parseName('www.example.com.'));
      expect(www.map(({ ttl }) => ttl)).toEqual([60, 60]);
    });

    it('takes names from --origin if the text has none, and is a root zone only if --origin says so', () => {
      const judged = judge('@ 60 SOA ns h 1 2 3 4 5\n@ 60 NS ns\n', parseName('example.net.'));
      expect(judged).toMatchObject({ kind: 'good', apex: parseName('example.net.') });
      const atRoot = smallZone('.', 'example.com. NS ns\n');
      const message =
        'this is a zone for the root (.) because of $ORIGIN . in line 1; if that is intended, pass --origin .';
      expect(problemsOf(atRoot)).toEqual([`judged.zone:3:1: ${message}`]);
      expect(judge(atRoot, ROOT)).toMatchObject({ kind: 'good', apex: ROOT });
      expect(problemsOf('. 60 SOA ns. h. 1 2 3 4 5\n. 60 NS ns.\nns. 60 A 192.0.2.1\n')).toEqual([
        'judged.zone:1:1: this is a zone for the root (.); if that is intended, pass --origin .',
      ]);
    });

    it('may be UTF-16, like its included files, and may have comments in an old encoding', () => {
      const utf16 = (text: string) => Buffer.from(text, 'utf16le');
      folder.write('wide.inc', utf16('www A 192.0.2.2\n').swap16());
      expect(problemsOf(utf16(`\uFEFF${smallZone('example.com.', '$INCLUDE wide.inc\n')}`))).toEqual([]);
      const judged = judgeZoneFile(
        { name: '-', path: undefined },
        { origin: undefined, at: NOW, content: utf16(smallZone('a.example.')) },
      );
      expect(judged).toMatchObject({ kind: 'good', apex: parseName('a.example.') });
      const latin1 = Buffer.from(smallZone('example.com.', '; Schl\xfcssel\nwww A 192.0.2.2\n'), 'latin1');
      expect(problemsOf(latin1)).toEqual([]);
    });

    it('loads without the special records of Windows DNS, and warns about each', () => {
      expect(
        judge(smallZone('example.com.', '@ [AGE:37] 600 A 192.0.2.3\n@ WINS L1 C900 ( 192.0.2.33 )\n')),
      ).toMatchObject({
        kind: 'good',
        warnings: [
          {
            file: 'judged.zone',
            line: 7,
            column: 1,
            code: 'RECORD_NOT_LOADED',
            name: 'example.com.',
            type: 'WINS',
            message: 'the WINS record is not loaded: only Windows DNS has records of this type',
          },
        ],
      });
    });
  });

  describe('a bad zone file', () => {
    it('is rejected with every problem of its text, by line and column, including a missing SOA', () => {
      expect(problemsOf(smallZone('example.com.', 'a A 1.2.3\n\nb MX x y\nc NOSUCH 1\n'))).toEqual([
        expect.stringMatching(/^judged\.zone:6:5: address: .*1\.2\.3/),
        expect.stringMatching(/^judged\.zone:8:6: preference: /),
        expect.stringMatching(/^judged\.zone:9:3: type: .*NOSUCH/),
      ]);
      expect(problemsOf(smallZone('example.com.', 'a TYPE0 \\# 0\n'))).toEqual([
        expect.stringMatching(/^judged\.zone:6:3: type: a zone cannot hold records of type TYPE0$/),
      ]);
      expect(judge('www.example.com. 60 A 192.0.2.1\n')).toMatchObject({
        kind: 'refused',
        apex: undefined,
        problems: [{ line: 1, message: expect.stringMatching(/no SOA/) }],
      });
    });

    it('is rejected with every problem of its zone, at the record concerned', () => {
      const problems = problemsOf(
        smallZone('example.com.', `a CNAME b\na A 192.0.2.1\n@ DS 1 8 1 ${'00'.repeat(20)}\n`),
      );
      expect(problems).toContainEqual(
        expect.stringMatching(/^judged\.zone:7:1: a\.example\.com\. has both CNAME and A$/),
      );
      expect(problems.length).toBeGreaterThanOrEqual(2);
      const latin1 = Buffer.from(
        smallZone('example.com.', '; gr\xfcn\nt TXT "gr\xfcn"\nu TXT "gr\\252n"\n'),
        'latin1',
      );
      expect(problemsOf(latin1)).toEqual([expect.stringMatching(/^judged\.zone:7:7: .*not UTF-8/)]);
    });

    it('names the included file that has the problem', () => {
      folder.write('part.inc', 'ok A 192.0.2.9\nbad A nowhere\n');
      expect(problemsOf(smallZone('example.com.', '$INCLUDE part.inc\n'))).toEqual([
        expect.stringMatching(/^part\.inc:2:7: address: /),
      ]);
      const path = folder.write('outer.zone', smallZone('example.com.', '$INCLUDE part.inc\n'));
      const judged = judgeZoneFile({ name: 'zones/outer.zone', path }, { origin: undefined, at: NOW });
      expect(judged.kind === 'refused' && judged.problems[0]?.file).toBe('zones/part.inc');
    });

    it('is rejected if it cannot be read', () => {
      const judged = judgeZoneFile(
        { name: 'x', path: join(folder.path, 'missing.zone') },
        { origin: undefined, at: NOW },
      );
      expect(judged).toMatchObject({ kind: 'refused', problems: [{ file: 'x', message: 'no such file' }] });
      const itself = judgeZoneFile({ name: 'x', path: folder.path }, { origin: undefined, at: NOW });
      expect(itself).toMatchObject({ kind: 'refused', problems: [{ message: 'a folder, not a file' }] });
    });
  });
});

describe('zone import', () => {
  const SECRET = '//8Aa+c='; // as in a comment
  it.each([
    [`key "Key.Example." {\n\talgorithm hmac-sha512;\n\tsecret "${SECRET}";\n};\n`, 'hmac-sha512'],
    [`# made today\nkey key.example { secret "${SECRET}" ; algorithm HMAC-SHA384.; }; // end`, 'hmac-sha384'],
    [`/* one\nkey */ hmac-sha256:key.example:${SECRET}\n`, 'hmac-sha256'],
    [
      `hmac-md5:key.example:${SECRET}`,
      'the algorithm is "hmac-md5", not hmac-sha256 or hmac-sha384 or hmac-sha512',
    ],
    ['hmac-sha256:key.example:!!', 'the secret is not base64'],
    ['key a { algorithm hmac-sha256; };', 'the secret is not base64'],
    [`hmac-sha256:a..b:${SECRET}`, 'the name: "a..b" has an empty label'],
    [
      'key.example',
      'expected key "NAME" { algorithm ALGORITHM; secret "BASE64"; }; or ALGORITHM:NAME:BASE64',
    ],
  ])('reads the key file %j', async (text, expected) => {
    const folder = makeZoneFolder();
    try {
      const reading = readKeyFile(folder.write('key.conf', text));
      if (!expected.startsWith('hmac')) await expect(reading).rejects.toThrow(`--key-file: ${expected}`);
      else
        expect(await reading).toEqual({
          name: parseName('key.example.'),
          algorithm: expected,
          secret: Buffer.from(SECRET, 'base64'),
        });
    } finally {
      folder.remove();
    }
  });

  it('reports a key file that does not exist', async () => {
    await expect(readKeyFile('/nowhere/key.conf')).rejects.toThrow('/nowhere/key.conf: ');
  });
});
