import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hidePasswords, MAX_LINE_CHARACTERS, openLog } from '../src/log.ts';

function logging() {
  const lines: string[] = [];
  return { lines, log: openLog('nameserver', 'info', { write: (line: string) => lines.push(line) }) };
}

describe('the log', () => {
  it('is one JSON object a line, with the process and the message', () => {
    const { lines, log } = logging();
    log.info({ zones: 3 }, 'loaded');
    log.debug('not at this level');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ process: 'nameserver', zones: 3, msg: 'loaded' });
  });

  it('holds no password, wherever a line has one', () => {
    const { lines, log } = logging();
    log.error({ err: new Error('cannot reach postgres://u:hunter2@db/zones') }, 'at postgres://u:hunter2@db');
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.join()).toContain('postgres://u:***@db');
    expect(() => JSON.parse(lines[0] as string)).not.toThrow();
  });

  it('cuts long texts in a line, and says how long the line was', () => {
    const { lines, log } = logging();
    log.warn({ url: `/${'a'.repeat(1_000_000)}`, count: 7 }, 'asked');
    const [line = ''] = lines;
    expect(line.length).toBeLessThanOrEqual(MAX_LINE_CHARACTERS);
    expect(line.endsWith('}\n')).toBe(true);
    const told = JSON.parse(line);
    expect(told).toMatchObject({ level: 40, process: 'nameserver', count: 7, msg: 'asked' });
    expect(told.cut).toBeGreaterThan(1_000_000);
    expect(told.url).toMatch(/^\/a+$/);
  });

  it('keeps of a line of many members what says when, where and what', () => {
    const { lines, log } = logging();
    log.warn({ list: Array.from({ length: 100_000 }, (_, i) => i) }, '"'.repeat(100_000));
    const [line = ''] = lines;
    expect(line.length).toBeLessThanOrEqual(MAX_LINE_CHARACTERS);
    expect(Object.keys(JSON.parse(line))).toEqual(['level', 'time', 'process', 'cut', 'msg']);
  });

  it('hides a password before it cuts the line that has it', () => {
    const { lines, log } = logging();
    log.warn({ url: `${'a'.repeat(4080)} postgres://u:hunter2${'x'.repeat(40_000)}@db` }, 'asked');
    expect(lines.join()).not.toContain('hunter2');
  });
});

/** What is meant, said in the shortest way: each attempt of the first looks at all that is left, which is quadratic. */
function hidePasswordsSlowly(text: string): string {
  return text
    .replaceAll(/(\w:\/\/[^\s/:@"\\]*):[^\s"\\]*@/g, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}

describe('hidePasswords', () => {
  it.each([
    ['postgresql://u:p@ss:w/rd@h:5432/d', 'postgresql://u:***@h:5432/d'],
    ['postgresql://:p@h/d', 'postgresql://:***@h/d'],
    ['postgresql://u:@h/d', 'postgresql://u:***@h/d'],
    ['postgresql://u@/d?host=%2Frun&password=p&port=1', 'postgresql://u@/d?host=%2Frun&password=***&port=1'],
    ['redis://h/0?x=1&SSLPassword=p?q "', 'redis://h/0?x=1&SSLPassword=*** "'],
    ['postgresql://u@h:5432/d', 'postgresql://u@h:5432/d'],
    ['a://x:p@h b://y:q@i', 'a://x:***@h b://y:***@i'],
    ['a://x@h://y:q@i', 'a://x@h://y:***@i'],
    ['a://x/@b://y:z', 'a://x/@b://y:z'],
    ['listening on http://127.0.0.1:9153/metrics', 'listening on http://127.0.0.1:9153/metrics'],
  ])('turns %s into %s', (text, hidden) => {
    expect(hidePasswords(text)).toBe(hidden);
  });

  it('hides what the slow, obvious rule hides, in any text', () => {
    const piece = fc.constantFrom(
      ...['a', '://', 'p://u:', ':', '@', '/', ' ', '"', '\\', '\n', '?', '&', 'password=', 'sslPASSWORD='],
      ...['\u00a0', 'é', '😀', '=', '***'],
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
        (text) => {
          expect(hidePasswords(text)).toBe(hidePasswordsSlowly(text));
        },
      ),
      { numRuns: 5000 },
    );
  });

  // In a process of its own, which can be ended: a quadratic rule takes an hour for the first of them.
  it('comes to its end with 8 million characters of anything that looks like the beginning of a URL', async () => {
    const pieces = ['a://u:', 'a://', '@a://u:', 'a:', '?password=', '&password', ':', '/', 'a://u', '@'];
    const script = `import { hidePasswords } from './src/log.ts';
      for (const piece of ${JSON.stringify(pieces)}) {
        const text = piece.repeat(Math.ceil(8e6 / piece.length));
        console.log(piece, hidePasswords(text).length > 0);
      }`;
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', script],
      { timeout: 60_000 },
    );
    expect(stdout).toBe(pieces.map((piece) => `${piece} true\n`).join(''));
  }, 70_000);
});
