// Thousands that wait for one signal.

import { getEventListeners } from 'node:events';
import { describe, expect, it } from 'vitest';
import { unwatchAbort, watchAbort } from '../../../src/resolver/exchange/abort-watch.ts';

describe('watchAbort', () => {
  it('has one listener for all, and none when the last one has gone', () => {
    const { signal } = new AbortController();
    const callbacks = Array.from({ length: 1000 }, () => () => {});
    for (const callback of callbacks) watchAbort(signal, callback);
    expect(getEventListeners(signal, 'abort').length).toBe(1);
    for (const callback of callbacks) unwatchAbort(signal, callback);
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });

  it('calls each that is left once, also when a callback takes another one off', () => {
    const controller = new AbortController();
    const { signal } = controller;
    const called: string[] = [];
    const third = () => called.push('third');
    watchAbort(signal, () => {
      called.push('first');
      unwatchAbort(signal, third);
    });
    const second = () => called.push('second');
    watchAbort(signal, second);
    unwatchAbort(signal, second);
    watchAbort(signal, third);
    watchAbort(signal, () => called.push('fourth'));
    controller.abort();
    expect(called).toEqual(['first', 'fourth']);
    expect(getEventListeners(signal, 'abort').length).toBe(0);
  });
});
