import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import { publicWritesAside } from '../../../src/api/http/aside.ts';
import { ROUTES } from '../../../src/features/every-route.ts';

/** Simulated rounds of an event loop, which the test starts. */
function rounds() {
  const due: (() => void)[] = [];
  return {
    soon: (task: () => void) => void due.push(task),
    isDue: () => due.length > 0,
    next: () => due.shift()?.(),
  };
}

function request(method: string, url: string): IncomingMessage & { socket: { destroyed: boolean } } {
  return { method, url, headers: {}, socket: { destroyed: false } } as never;
}

describe('public calls', () => {
  it('start four per round, in order, and none in the round in which they arrive', () => {
    const { soon, next, isDue } = rounds();
    const begun: string[] = [];
    const handler = publicWritesAside(ROUTES, ({ url }) => begun.push(url ?? ''), soon);
    const come = (i: number) => handler(request('POST', `/auth/login?${i}`), {} as ServerResponse);
    const first = (count: number) => Array.from({ length: count }, (_, i) => `/auth/login?${i}`);
    for (let i = 0; i < 10; i++) come(i);
    expect(begun).toEqual([]);
    next();
    expect(begun).toEqual(first(4));
    come(10);
    next();
    next();
    expect(begun).toEqual(first(11));
    expect(isDue()).toBe(false);
  });

  it.each([
    ['POST', '/auth/login', true],
    ['POST', '/auth/login?a=b', true],
    ['POST', '/auth/log%69n', true],
    ['POST', '/auth/%', false],
    ['GET', '/auth/login', false],
    ['POST', '/auth/logout', false],
    ['POST', '/domains/', false],
    ['GET', '/domains/ns-sets', false],
  ])('%s %s: %s', (method, url, isAside) => {
    const { soon, next } = rounds();
    const begun: string[] = [];
    const handler = publicWritesAside(ROUTES, ({ url }) => begun.push(url ?? ''), soon);
    handler(request(method, url), {} as ServerResponse);
    expect(begun).toEqual(isAside ? [] : [url]);
    next();
    expect(begun).toEqual([url]);
  });

  it('do not start if their client has disconnected', () => {
    const { soon, next } = rounds();
    const begun: string[] = [];
    const handler = publicWritesAside(ROUTES, ({ url }) => begun.push(url ?? ''), soon);
    const gone = request('POST', '/auth/login');
    handler(gone, {} as ServerResponse);
    gone.socket.destroyed = true;
    next();
    expect(begun).toEqual([]);
  });
});
