import { describe, expect, it } from 'vitest';
import { AnalyticsFault } from '../../src/analytics/open-analytics.ts';
import { openLog } from '../../src/process/log.ts';

const MAX_LINE_CHARACTERS = 32_768;

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

  it.each([
    [
      'says it',
      (cause: Error) => new AnalyticsFault('away', `the store: ${cause.message}`, { cause }),
      'the store: no road',
    ],
    ['does not', (cause: Error) => new Error('not read', { cause }), 'not read: no road'],
    [
      'says it, and is a cause',
      (cause: Error) => new Error('not kept', { cause: new Error(`at 1: ${cause.message}`, { cause }) }),
      'not kept: at 1: no road',
    ],
    [
      'says one of two',
      (cause: Error) => new Error('at 2: shut', { cause: new Error('shut', { cause }) }),
      'at 2: shut: no road',
    ],
  ])('tells the reason of a fault once, whose message %s', (_what, faultOf, told) => {
    const { lines, log } = logging();
    log.warn({ err: faultOf(new Error('no road')) }, 'waits');
    const { err, msg } = JSON.parse(lines[0] as string);
    expect([err.message, msg]).toEqual([told, 'waits']);
    expect(err.stack).toMatch(/caused by: Error: no road/);
  });

  it('tells a fault that is its own cause', () => {
    const { lines, log } = logging();
    const first = new Error('first');
    first.cause = new Error('second', { cause: first });
    log.warn(first);
    expect(JSON.parse(lines[0] as string).err.message).toBe('first: second');
  });

  it('tells a fault whose cause says nothing', () => {
    const { lines, log } = logging();
    log.warn({ err: new Error('the store: ECONNREFUSED', { cause: new AggregateError([]) }) });
    expect(JSON.parse(lines[0] as string).err.message).toBe('the store: ECONNREFUSED');
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
