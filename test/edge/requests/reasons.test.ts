import { expect, it } from 'vitest';
import { isReason, REASONS } from '../../../src/edge/requests/reasons.ts';

it('each reason tells people what to make of it', () => {
  for (const [key, { label, fault, meaning, status }] of Object.entries(REASONS)) {
    expect(key).toMatch(/^[a-z]+(_[a-z]+)+$|^loop$|^suspended$/);
    expect(label).toMatch(/^[A-Z].*[^.]$/);
    expect(['client', 'origin', 'network', 'config']).toContain(fault);
    expect(meaning).toMatch(/^[A-Z].*\.$/);
    expect(status).toBeGreaterThanOrEqual(400);
  }
});

it('names of members that every object has are none', () => {
  expect(['constructor', 'toString', '__proto__', ''].filter(isReason)).toEqual([]);
  expect(isReason('origin_timeout')).toBe(true);
});
