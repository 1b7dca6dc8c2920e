// What tells how far a check is comes from outside: what is not of the expected form is left out.

import { describe, expect, it } from 'vitest';
import { readProgress, wayTo } from '../../../../console/src/screens/delegation/read-progress.ts';

describe('readProgress', () => {
  it('reads zones and servers, without members that it does not know', () => {
    const walk = [
      { zone: '.', servers: 13, cached: true },
      { zone: 'example', servers: 2, cached: false },
    ];
    const servers = [
      { server: 'a.nic.example', address: '192.0.2.1', outcome: 'referral', rtt_ms: 3.2, more: 1 },
    ];
    expect(readProgress({ domain_id: 1, walk, servers })).toEqual({
      zones: ['.', 'example'],
      servers: [{ server: 'a.nic.example', address: '192.0.2.1', outcome: 'referral', rtt_ms: 3.2 }],
    });
  });

  it('leaves out what has another form', () => {
    expect(readProgress({ walk: [null, 1, { zone: 2 }], servers: ['x', { server: 'a' }] })).toEqual({
      zones: [],
      servers: [],
    });
    expect([undefined, null, 'x', {}, { walk: {}, servers: [] }].map(readProgress)).toEqual(
      Array(5).fill(undefined),
    );
  });
});

describe('wayTo', () => {
  it('begins at the root, and ends at the zone above', () => {
    expect(['example', 'co.example', '.', '', undefined].map(wayTo)).toEqual([
      ['.', 'example'],
      ['.', 'co.example'],
      ['.'],
      ['.'],
      ['.'],
    ]);
  });
});
