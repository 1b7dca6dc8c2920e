// The queue for sockets.

import { describe, expect, it } from 'vitest';
import { OpenSockets } from '../../../src/resolver/exchange/open-sockets.ts';

describe('OpenSockets', () => {
  it('starts at once while there are sockets, then first come, first served', () => {
    const sockets = new OpenSockets(2);
    const started: string[] = [];
    for (const name of ['a', 'b', 'c', 'd']) sockets.take(() => started.push(name));
    expect(started).toEqual(['a', 'b']);
    sockets.release();
    expect(started).toEqual(['a', 'b', 'c']);
    sockets.release();
    expect([started, sockets.open]).toEqual([['a', 'b', 'c', 'd'], 2]);
  });

  it('passes over who does not wait any more', () => {
    const sockets = new OpenSockets(1);
    const started: string[] = [];
    const first = () => started.push('first');
    const second = () => started.push('second');
    sockets.take(first);
    sockets.take(second);
    sockets.take(() => started.push('third'));
    expect([sockets.cancel(second), sockets.cancel(second), sockets.cancel(first)]).toEqual([
      true,
      false,
      false,
    ]);
    sockets.release();
    expect(started).toEqual(['first', 'third']);
  });

  it('are scarce from half of them on', () => {
    const sockets = new OpenSockets(4);
    const scarce = [1, 2, 3].map(() => {
      sockets.take(() => {});
      return sockets.areScarce;
    });
    expect(scarce).toEqual([false, true, true]);
  });

  it('does not nest when a hundred thousand starts fail one after the other', () => {
    const sockets = new OpenSockets(1);
    sockets.take(() => {});
    let failed = 0;
    for (let i = 0; i < 100_000; i++) {
      sockets.take(() => {
        failed++;
        sockets.release();
      });
    }
    sockets.release();
    expect([failed, sockets.open]).toEqual([100_000, 0]);
  });
});
