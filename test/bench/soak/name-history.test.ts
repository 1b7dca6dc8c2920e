import { describe, expect, it } from 'vitest';
import { NameHistory } from '../../../bench/soak/name-history.ts';

/** 1 was stored at 0, 2 was sent at 100 and stored at 200, 3 was sent at 300. */
function written(): NameHistory {
  const history = new NameHistory(1, 0);
  history.send(2, 100);
  history.confirm(200);
  history.send(3, 300);
  return history;
}

const at = (value: number | undefined, answeredMs: number, freshMs: number) => ({
  value,
  answeredMs,
  freshMs,
});

describe('NameHistory', () => {
  it('allows the stored value and a value that is being written', () => {
    expect(written().fault(at(2, 400, 250))).toBeUndefined();
    expect(written().fault(at(3, 400, 250))).toBeUndefined();
  });

  it('allows an older value only until the next one must be visible', () => {
    expect(written().fault(at(1, 400, 199))).toBeUndefined();
    expect(written().fault(at(1, 400, 200))).toBe('1 is outdated, expected 2 or 3');
  });

  it('rejects a value that was never written, or was sent after the answer', () => {
    expect(written().fault(at(4, 400, 0))).toContain('4 was never written');
    expect(written().fault(at(3, 299, 0))).toContain('3 was never written');
    expect(written().fault(at(undefined, 400, 0))).toContain('none was never written');
  });

  it('forgets an edit that the API rejected', () => {
    const history = written();
    history.withdraw();
    expect(history.stored).toBe(2);
    expect(history.fault(at(3, 400, 0))).toContain('3 was never written');
  });

  it('tells a deletion from the absence before the first write', () => {
    const history = new NameHistory(undefined, 0);
    history.send(1, 100);
    history.confirm(200);
    expect(history.fault(at(undefined, 300, 250))).toBe('none is outdated, expected 1');
    history.send(undefined, 300);
    expect(history.fault(at(undefined, 400, 250))).toBeUndefined();
  });

  it('refuses a second open edit', () => {
    expect(() => written().send(4, 400)).toThrow('another edit of this name is open');
  });
});
