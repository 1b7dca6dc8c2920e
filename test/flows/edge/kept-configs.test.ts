// What docs/edge-agent keeps on disk of the stream: the newest of each domain, and after a snapshot what that told.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { KeptConfigs } from '../../../docs/edge-agent/kept-configs.mjs';
import { madeConfig } from '../../support/edge/made-config.ts';

let state: string;
let kept: KeptConfigs;
beforeEach(() => {
  state = mkdtempSync(join(tmpdir(), 'zonefleet-kept-configs-'));
  kept = new KeptConfigs(state);
});
afterEach(() => rmSync(state, { recursive: true, force: true }));

function take(domain: string, version: number, isServed = true): string[] {
  const config = isServed ? madeConfig(domain, { domain_id: version }) : null;
  return kept.take({ cursor: `c${version}`, domain, version, config });
}

it('the newest version wins, also after a restart, and the cursor stands behind it', () => {
  expect([take('a.example', 5), take('a.example', 4), take('a.example', 5)]).toEqual([['a.example'], [], []]);
  const again = new KeptConfigs(state);
  expect([again.get('a.example')?.domain_id, again.cursor]).toEqual([5, 'c5']);
});

it('a snapshot counts whatever versions are held: of a restored database, or when the edge has another region', () => {
  take('a.example', 5);
  take('b.example', 6, false);
  take('c.example', 7);
  kept.take({ cursor: 'c0', snapshot: 'begin' });
  expect([take('a.example', 2), take('a.example', 1), take('b.example', 6)]).toEqual([
    ['a.example'],
    [],
    ['b.example'],
  ]);
  expect(kept.cursor).toBe('c7'); // until the whole snapshot is there
  expect(kept.take({ cursor: 'c9', snapshot: 'end' })).toEqual(['c.example']);
  expect([kept.get('a.example')?.domain_id, kept.get('b.example')?.domain_id, kept.cursor]).toEqual([
    2,
    6,
    'c9',
  ]);
});

it('a snapshot that tells what is held already changes nothing', () => {
  take('a.example', 5);
  kept.take({ cursor: 'c0', snapshot: 'begin' });
  expect(take('a.example', 5)).toEqual([]);
  expect(kept.take({ cursor: 'c9', snapshot: 'end' })).toEqual([]);
});
