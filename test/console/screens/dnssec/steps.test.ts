import { describe, expect, it } from 'vitest';
import {
  actionsFor,
  type Dnssec,
  dsFieldsOf,
  stepsOf,
} from '../../../../console/src/screens/dnssec/steps.ts';

type Key = Dnssec['keys'][number];

const key = (state: Key['state'], ds: Key['ds']): Key => ({
  id: 1,
  role: 'csk',
  key_tag: 1,
  algorithm: 13,
  origin: 'ours',
  state,
  ds,
  made_at: '2026-01-01T00:00:00.000Z',
});

const nothing: Dnssec['registrar'] = { action: 'none', add: [], remove: [], message: '' };
const at = (dnssec: Partial<Dnssec> & Pick<Dnssec, 'status'>) =>
  stepsOf({ keys: [], registrar: nothing, ...dnssec });

describe('steps of DNSSEC', () => {
  it('lead from signing to secure', () => {
    expect(at({ status: 'signing' })?.at).toBe(0);
    expect(at({ status: 'waiting' })?.at).toBe(1);
    expect(at({ status: 'ds_wanted' })?.at).toBe(2);
    expect(at({ status: 'secure' })?.at).toBe(4);
  });

  it('show the state of a key rollover', () => {
    const prepared = at({ status: 'rolling', keys: [key('signing', 'seen'), key('published', 'none')] });
    expect(prepared).toEqual({ way: 'roll', at: 0 });
    const exchange = at({ status: 'rolling', registrar: { ...nothing, action: 'replace' } });
    expect(exchange?.at).toBe(1);
    const last = at({ status: 'rolling', keys: [key('retiring', 'none'), key('signing', 'seen')] });
    expect(last?.at).toBe(2);
  });

  it('distinguish a DS that must be removed from one that is still cached', () => {
    expect(at({ status: 'ds_removal', registrar: { ...nothing, action: 'remove' } })?.at).toBe(0);
    expect(at({ status: 'ds_removal', registrar: { ...nothing, action: 'wait' } })?.at).toBe(1);
  });

  it('are absent if no change is in progress', () => {
    for (const status of ['off', 'broken', 'verbatim'] as const) expect(at({ status })).toBeUndefined();
  });
});

it('offer to cancel only a change in progress', () => {
  const statuses = ['off', 'secure', 'broken', 'verbatim'] as const;
  for (const status of statuses) expect(actionsFor({ status })).not.toContain('abort');
  for (const status of ['signing', 'waiting', 'ds_wanted', 'rolling', 'ds_removal', 'unsigning'] as const)
    expect(actionsFor({ status })).toContain('abort');
});

describe('fields of a DS record', () => {
  it('are those that registrars ask for, even if the digest is in parts', () => {
    expect(dsFieldsOf('12345 13 2 9F00 AB12')).toEqual({
      keyTag: '12345',
      algorithm: '13',
      digestType: '2',
      digest: '9F00AB12',
    });
  });

  it('are absent for text that is not a DS record', () => {
    expect(dsFieldsOf('12345 13 2')).toBeUndefined();
    expect(dsFieldsOf('')).toBeUndefined();
  });
});
