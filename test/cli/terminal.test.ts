// Parts that all commands share: names, files, tables and progress.

import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import { Command } from 'commander';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test } from 'vitest';
import { indentTable, joinBlocks } from '../../src/cli/terminal/blocks.ts';
import { collectDomainNames } from '../../src/cli/terminal/collect-domain-names.ts';
import { Failure } from '../../src/cli/terminal/failure.ts';
import { findZoneFiles } from '../../src/cli/terminal/find-zone-files.ts';
import { helpStyle } from '../../src/cli/terminal/help-style.ts';
import { INTERRUPTED, Listing, Output } from '../../src/cli/terminal/output.ts';
import { parseZoneName } from '../../src/cli/terminal/parse-zone-name.ts';
import { printSpan } from '../../src/cli/terminal/print-span.ts';
import { printTable } from '../../src/cli/terminal/print-table.ts';
import { ProgressBar } from '../../src/cli/terminal/progress-bar.ts';
import { type DomainOutcome, workOnDomains } from '../../src/cli/terminal/work-on-domains.ts';
import { writeWholeFile } from '../../src/cli/terminal/write-whole-file.ts';
import { printName } from '../../src/dns/name.ts';
import { captureOutput } from '../support/tests/captured-output.ts';
import { makeZoneFolder, type ZoneFolder } from '../support/zone/zone-folder.ts';

it('blocks are separated by one empty line, empty ones are omitted, and tables below a heading are indented', () => {
  expect(joinBlocks([['a', 'b'], [], ['c']])).toBe('a\nb\n\nc');
  expect(joinBlocks([[], []])).toBe('');
  expect(indentTable('A  B\n1  2')).toEqual(['  A  B', '  1  2']);
});

describe('domain names from arguments and lists', () => {
  let folder: string;
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'zonefleet-names-'));
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  it('names keep their order and positions, and duplicates are ignored', async () => {
    const file = join(folder, 'list');
    writeFileSync(file, '\ufeff# first\nB.com # why\n\n\tbücher.de\r\na.com.\nx y\n#last');
    const found = [...(await collectDomainNames({ names: ['a.com', '_'], file }))];
    expect(found.map(({ kind, text, place }) => [kind, text, place])).toEqual([
      ['wanted', 'a.com', undefined],
      ['bad', '_', undefined],
      ['wanted', 'B.com', `${file}:2`],
      ['wanted', 'bücher.de', `${file}:4`],
      ['bad', 'x y', `${file}:6`],
    ]);
    expect(found[3]).toMatchObject({ unicode: 'bücher.de' });
  });

  it('words may follow a name in a file; a folder or no names at all is a usage error', async () => {
    const file = join(folder, 'owners');
    writeFileSync(file, 'a.com  ann\tpro # x\na.com ann pro\na.com bob\nb.com ann pro more\nc.com ann\0\n');
    expect([...(await collectDomainNames({ names: [], file, words: 2 }))]).toMatchObject([
      { kind: 'wanted', text: 'a.com', words: ['ann', 'pro'] },
      { kind: 'wanted', text: 'a.com', words: ['bob'] },
      { kind: 'bad', text: 'b.com', place: `${file}:4`, message: 'at most 2 words may follow the name' },
      { kind: 'bad', text: 'c.com', place: `${file}:5`, message: 'the line has a control character' },
    ]);
    await expect(collectDomainNames({ names: [], file: folder })).rejects.toThrow('a folder, not a file');
    await expect(collectDomainNames({ names: [], file: undefined })).rejects.toThrow('--file');
  });
});

describe('zone files from arguments', () => {
  let folder: ZoneFolder;
  let at: (name: string) => string;

  beforeAll(() => {
    folder = makeZoneFolder();
    at = (name) => join(folder.path, name);
    for (const name of ['b.zone', 'a.zone', 'notes.txt', 'a.zone.bak', '.hidden.zone'])
      folder.write(name, '');
    mkdirSync(at('folder.zone'));
    mkdirSync(at('empty'));
    symlinkSync(at('a.zone'), at('again.zone'));
    symlinkSync(at('gone'), at('dangling.zone'));
  });
  afterAll(() => folder.remove());

  it('a folder is each *.zone directly in it, sorted; each file is listed once', () => {
    const found = findZoneFiles([folder.path]);
    expect(found.files.map(({ name }) => name)).toEqual([at('.hidden.zone'), at('a.zone'), at('b.zone')]);
    expect(found.problems).toEqual([{ path: at('dangling.zone'), message: 'no such file' }]);
    expect(findZoneFiles([at('notes.txt'), at('empty/../notes.txt'), '-', '-']).files).toEqual([
      { name: at('notes.txt'), path: at('notes.txt') },
      { name: '-', path: undefined },
    ]);
  });

  it('a path without zone files is reported, and others are still found', () => {
    const found = findZoneFiles([at('missing'), at('empty'), at('b.zone')]);
    expect(found.files.map(({ name }) => name)).toEqual([at('b.zone')]);
    expect(found.problems).toEqual([
      { path: at('missing'), message: 'no such file' },
      { path: at('empty'), message: 'no *.zone file in this folder' },
    ]);
  });
});

const ITEM = { json: { a: 1 }, lines: ['one'] };
const REFUSED = { json: { b: 2 }, problems: ['x: bad', 'y: bad'] };

it('a list as text has results on stdout and problems on stderr', async () => {
  const captured = captureOutput(false);
  const listing = new Listing(captured.output, 'items');
  await listing.add(ITEM);
  await listing.add(REFUSED);
  await listing.end({ count: 2 }, 'items 2');
  expect(captured.out).toBe('one\nitems 2\n');
  expect(captured.err).toBe('x: bad\ny: bad\n');
});

it.each([
  [[], { items: [], count: 2 }],
  [[ITEM], { items: [{ a: 1 }], count: 2 }],
  [[ITEM, REFUSED], { items: [{ a: 1 }, { b: 2 }], count: 2 }],
])('a list of %j is one JSON document', async (items, document) => {
  const captured = captureOutput(true);
  const listing = new Listing(captured.output, 'items');
  for (const item of items) await listing.add(item);
  await listing.end({ count: 2 }, 'unseen');
  expect(JSON.parse(captured.out)).toEqual(document);
  expect(captured.err).toBe('');
});

it('a reader that closes the pipe closes the output, and further writes are ignored', async () => {
  const out = new Writable({
    write: (_chunk, _encoding, done) => done(Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })),
  });
  const output = new Output(false, out, new PassThrough());
  await output.print('lost');
  await output.print('lost');
  expect(output.closed).toBe(true);
});

it('writes wait for a slow reader', async () => {
  let release: (() => void) | undefined;
  const out = new Writable({
    write: (_chunk, _encoding, done) => {
      release = done;
    },
  });
  const output = new Output(false, out, new PassThrough());
  let written = false;
  const writing = output.print('line').then(() => {
    written = true;
  });
  await new Promise(setImmediate);
  expect(written).toBe(false);
  release?.();
  await writing;
  expect(written).toBe(true);
});

describe('a zone name as typed by an operator', () => {
  it.each([
    ['example.com', 'example.com.'],
    ['example.com.', 'example.com.'],
    ['EXAMPLE.Com', 'example.com.'],
    ['.', '.'],
    ['0/26.2.0.192.in-addr.arpa', '0/26.2.0.192.in-addr.arpa.'],
    ['a\\.b.example', 'a\\.b.example.'],
    ['example\\.', 'example\\..'],
    ['xn--mnchen-3ya.de', 'xn--mnchen-3ya.de.'],
    ['München.de.', 'xn--mnchen-3ya.de.'],
    ['bücher。de', 'xn--bcher-kva.de.'],
  ])('%s is the zone %s', (text, printed) => {
    expect(printName(parseZoneName(text))).toBe(printed);
  });

  it.each([
    ['', 'empty'],
    ['@', 'give the full name'],
    ['a..b', 'empty label'],
    ['.example', 'empty label'],
    ['a\\', 'lone backslash'],
    [`${'a'.repeat(64)}.example`, '63 octets'],
    [`${'abcdefg.'.repeat(32)}example`, '255 octets'],
    ['mün chen.de', 'not a valid internationalised label'],
    ['ü..de', 'empty labels'],
  ])('"%s" is a usage error: %s', (text, message) => {
    const parse = () => parseZoneName(text);
    expect(parse).toThrow(Failure);
    expect(parse).toThrow(message);
  });
});

it.each([
  [0, '0.0 s'],
  [0.04, '0.0 s'],
  [9.44, '9.4 s'],
  [12.4, '12 s'],
  [59.6, '1 min'],
  [61, '1 min 1 s'],
  [3600, '1 h'],
  [3605, '1 h'],
  [11_040, '3 h 4 min'],
  [86_400 * 40 + 7300, '40 d 2 h'],
])('%s seconds are %s', (seconds, text) => {
  expect(printSpan(seconds)).toBe(text);
});

it('columns are aligned, numbers to the right, without trailing spaces', () => {
  const rows = [
    ['ams1', 12, 'live'],
    ['fra', 1234, ''],
  ];
  expect(printTable(['NODE', 'ZONES', 'STATE'], rows).split('\n')).toEqual([
    'NODE  ZONES  STATE',
    'ams1     12  live',
    'fra    1234',
  ]);
});

it('a table without rows has only its headings; text from customers cannot control the terminal or add a row', () => {
  expect(printTable(['NODE', 'ZONES'], [])).toBe('NODE  ZONES');
  const rows = [['\u001b[2Jx\n1 root\u202e', 1]];
  expect(printTable(['NAME', 'ID'], rows).split('\n')).toEqual([
    'NAME           ID',
    '\ufffd[2Jx\ufffd1 root\ufffd   1',
  ]);
});

function terminal(isTTY: boolean, columns = 60) {
  const written: string[] = [];
  return { written, isTTY, columns, write: (text: string) => written.push(text) > 0 };
}

test('the progress bar is updated at most ten times per second, and removed at the end', () => {
  const shown = terminal(true);
  let now = 0;
  const bar = new ProgressBar(shown as never, () => now);
  bar.show(0, 0, 'begins');
  bar.show(1, 4, 'too soon');
  now = 100;
  bar.show(3, 4, '3 of 4 names');
  now = 200;
  bar.show(9, 4, 'x'.repeat(100));
  bar.clear();
  bar.clear();
  expect(shown.written).toEqual([
    `\r\x1b[K[${'-'.repeat(24)}] begins`,
    `\r\x1b[K[${'#'.repeat(18)}${'-'.repeat(6)}] 3 of 4 names`,
    `\r\x1b[K${`[${'#'.repeat(24)}] ${'x'.repeat(100)}`.slice(0, 59)}`,
    '\r\x1b[K',
  ]);
});

test('there is no progress bar if the output is not a terminal', () => {
  const piped = terminal(false);
  const bar = new ProgressBar(piped as never);
  bar.show(1, 2, 'half');
  bar.clear();
  expect(piped.written).toEqual([]);
});

const DONE: DomainOutcome = { kind: 'done', words: 'now', members: { serial: 7 } };

async function work(
  names: string[],
  act: (text: string) => Promise<DomainOutcome>,
  signal = new AbortController().signal,
  turnOf?: Parameters<typeof workOnDomains>[0]['turnOf'],
) {
  const captured = captureOutput(false);
  const domains = await collectDomainNames({ names, file: undefined });
  const order = { domains, outcome: 'moved', act: ({ text }: { text: string }) => act(text), signal };
  const code = await workOnDomains({ ...order, ...(turnOf && { turnOf }) }, captured.output).catch(
    (error: Error) => error,
  );
  return { code, out: captured.out.trimEnd().split('\n'), err: captured.err };
}

describe('one command on many domains', () => {
  it('runs a few concurrently and prints the outcomes in order', async () => {
    let underWay = 0;
    let most = 0;
    const names = Array.from({ length: 12 }, (_, i) => `n${i}.com`);
    const { code, out } = await work(names, async (text) => {
      most = Math.max(most, ++underWay);
      await pause(text.length % 2 === 0 ? 1 : 5);
      underWay--;
      return DONE;
    });
    expect(code).toBe(0);
    expect(out).toEqual([...names.map((name) => `moved ${name} now`), 'domains 12 moved 12 refused 0']);
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(8);
  });

  it('runs domains with the same key in order, even after a failure', async () => {
    const begun: string[] = [];
    let go = () => {};
    const otherBegan = new Promise<void>((resolve) => {
      go = resolve;
    });
    const act = async (text: string) => {
      begun.push(text);
      if (text === 'b.com') go();
      await otherBegan;
      if (text === 'a.com') throw new Error('Postgres is gone');
      return DONE;
    };
    await work(['a.com', 'in.a.com', 'b.com'], act, undefined, ({ text }) => text.slice(-5));
    expect(begun).toEqual(['a.com', 'b.com', 'in.a.com']);
  });

  it('stops after an interrupt, and prints everything that was done', async () => {
    const interrupt = new AbortController();
    const done: string[] = [];
    const names = Array.from({ length: 50 }, (_, i) => `n${i}.com`);
    const act = async (text: string) => {
      if (text === 'n5.com') interrupt.abort();
      await pause(1);
      done.push(text);
      return DONE;
    };
    const { code, out } = await work(names, act, interrupt.signal);
    expect(code).toBe(INTERRUPTED);
    expect(out.slice(0, -1)).toEqual(done.map((name) => `moved ${name} now`));
    expect(out.at(-1)).toMatch(/ \(stopped before the end\)$/);
    expect(done.length).toBeLessThan(20);
  });

  it('fails if the database fails, but prints what was done', async () => {
    const act = async (text: string) => {
      await pause(1);
      if (text === 'b.com') throw new Error('Postgres is gone');
      return DONE;
    };
    const { code, out } = await work(['a.com', 'b.com', 'c.com'], act);
    expect(code).toMatchObject({ message: 'Postgres is gone' });
    expect(out).toEqual([
      'moved a.com now',
      'moved c.com now',
      'domains 2 moved 2 refused 0 (stopped before the end)',
    ]);
  });
});

describe('atomic file writes', () => {
  let folder: ZoneFolder;
  const going = new AbortController().signal;

  beforeEach(() => {
    folder = makeZoneFolder();
  });
  afterEach(() => folder.remove());

  it('replace the file, and leave no temporary file', async () => {
    const file = folder.write('a.zone', 'old');
    expect(await writeWholeFile(file, ['new ', 'content'], going)).toBe(true);
    expect(readFileSync(file, 'utf8')).toBe('new content');
    expect(readdirSync(folder.path)).toEqual(['a.zone']);
  });

  it('leave the file unchanged after an interrupt or an error', async () => {
    const file = folder.write('a.zone', 'old');
    const interrupt = new AbortController();
    function* stopping() {
      yield 'new ';
      interrupt.abort();
      yield 'content';
    }
    expect(await writeWholeFile(file, stopping(), interrupt.signal)).toBe(false);
    function* breaking() {
      yield 'new ';
      throw new Error('broken');
    }
    await expect(writeWholeFile(file, breaking(), going)).rejects.toThrow('broken');
    expect(readFileSync(file, 'utf8')).toBe('old');
    expect(readdirSync(folder.path)).toEqual(['a.zone']);
  });

  it('keep a symbolic link, and replace its target', async () => {
    const target = folder.write('target', 'old');
    const link = join(folder.path, 'link');
    symlinkSync(target, link);
    await writeWholeFile(link, ['new'], going);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
    expect(readFileSync(target, 'utf8')).toBe('new');
  });

  it('name the file if they fail', async () => {
    const inside = join(folder.path, 'no-folder/a.zone');
    await expect(writeWholeFile(inside, ['x'], going)).rejects.toMatchObject({
      code: 'file',
      message: `${inside}: no such file`,
    });
    mkdirSync(join(folder.path, 'folder'));
    await expect(writeWholeFile(join(folder.path, 'folder'), ['x'], going)).rejects.toThrow(
      'not a regular file',
    );
  });
});

test('--help marks required options', () => {
  const help = new Command('edge')
    .configureHelp(helpStyle(new Map()))
    .requiredOption('--region <region>', 'where it is')
    .option('--json', 'print JSON')
    .helpInformation();
  expect(help).toMatch(/--region <region> +where it is \(required\)\n/);
  expect(help).toMatch(/--json +print JSON\n/);
});
