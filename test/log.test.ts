import { describe, expect, it } from 'vitest';
import { hidePasswords, openLog } from '../src/log.ts';

describe('the log', () => {
  it('is one JSON object a line, with the process and the message', () => {
    const lines: string[] = [];
    const log = openLog('nameserver', 'info', { write: (line: string) => lines.push(line) });
    log.info({ zones: 3 }, 'loaded');
    log.debug('not at this level');
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] as string)).toMatchObject({ process: 'nameserver', zones: 3, msg: 'loaded' });
  });

  it('holds no password, wherever a line has one', () => {
    const lines: string[] = [];
    const log = openLog('nameserver', 'info', { write: (line: string) => lines.push(line) });
    log.error({ err: new Error('cannot reach postgres://u:hunter2@db/zones') }, 'at postgres://u:hunter2@db');
    expect(lines.join()).not.toContain('hunter2');
    expect(lines.join()).toContain('postgres://u:***@db');
    expect(() => JSON.parse(lines[0] as string)).not.toThrow();
  });
});

describe('hidePasswords', () => {
  it.each([
    ['postgresql://u:p@ss:w/rd@h:5432/d', 'postgresql://u:***@h:5432/d'],
    ['postgresql://:p@h/d', 'postgresql://:***@h/d'],
    ['postgresql://u@/d?host=%2Frun&password=p&port=1', 'postgresql://u@/d?host=%2Frun&password=***&port=1'],
    ['postgresql://u@h:5432/d', 'postgresql://u@h:5432/d'],
    ['listening on http://127.0.0.1:9153/metrics', 'listening on http://127.0.0.1:9153/metrics'],
  ])('turns %s into %s', (text, hidden) => {
    expect(hidePasswords(text)).toBe(hidden);
  });
});
