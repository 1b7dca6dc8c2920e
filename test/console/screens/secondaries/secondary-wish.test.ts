import { describe, expect, it } from 'vitest';
import {
  lastContactOf,
  NOTHING,
  problemsOf,
  type SecondaryTransfers,
  secondaryOf,
  serversOf,
  stateOf,
} from '../../../../console/src/screens/secondaries/secondary-wish.ts';

const wish = { ...NOTHING, addresses: '9.9.9.9, 2620:fe::fe' };
const addresses = ['9.9.9.9', '2620:fe::fe'];

describe('secondaryOf', () => {
  const base = { addresses, port: 53, tsig_key: null, transfer: true, notify: true };
  it.each([
    ['restricts a secondary without a key to its addresses', wish, null, { networks: addresses }],
    ['lets a key be used from any address', wish, 7, { tsig_key: 7, networks: [] }],
    ['keeps entered networks', { ...wish, networks: '9.9.9.0/24' }, null, { networks: ['9.9.9.0/24'] }],
    [
      'sets no networks for NOTIFY only',
      { ...wish, transfer: false, port: '5353' },
      null,
      { networks: [], transfer: false, port: 5353 },
    ],
  ])('%s', (_, given, keyId, expected) => {
    expect(secondaryOf(given, keyId)).toEqual({ ...base, ...expected });
  });
});

describe('problemsOf', () => {
  const error = (field: string) => ({ field, error: 'wrong' });

  it('names the wrong item, and skips networks that repeat the addresses', () => {
    const errors = ['secondaries[0].addresses[1]', 'secondaries[0].networks[1]', 'label'].map(error);
    expect(problemsOf(errors, wish)).toEqual({
      of: { addresses: '2620:fe::fe: wrong', label: 'wrong' },
      shown: errors.map(({ field }) => field),
    });
  });

  it('leaves errors of other secondaries and of the whole request to the message', () => {
    const errors = ['secondaries', 'secondaries[1].port', 'secondaries[0].transfer'].map(error);
    expect(problemsOf(errors, wish)).toEqual({ of: {}, shown: [] });
  });
});

it('serversOf writes IPv6 addresses in brackets', () => {
  expect(serversOf({ addresses, port: 5353 })).toEqual(['9.9.9.9:5353', '[2620:fe::fe]:5353']);
});

describe('state of a secondary', () => {
  const unseen: SecondaryTransfers = {
    id: 1,
    addresses,
    transfer: true,
    notify: true,
    notified_serial: 7,
    acknowledged_at: null,
    served_serial: null,
    served_at: null,
    form: null,
    error: null,
    lag_seconds: 60,
  };
  const at = '2026-01-01T00:00:00.000Z';
  it.each([
    ['unseen', undefined],
    ['unseen', unseen],
    ['behind', { ...unseen, acknowledged_at: at }],
    ['behind', { ...unseen, served_at: at }],
    ['current', { ...unseen, served_at: at, lag_seconds: 0 }],
    ['notified', { ...unseen, transfer: false, acknowledged_at: at, lag_seconds: null }],
    ['unseen', { ...unseen, transfer: false, lag_seconds: null }],
  ] as const)('is %s', (state, transfers) => {
    expect(stateOf(transfers)).toBe(state);
  });

  it('has the later of two contacts', () => {
    const later = '2026-01-02T00:00:00.000Z';
    expect(lastContactOf({ ...unseen, served_at: later, acknowledged_at: at })).toBe(later);
    expect(lastContactOf({ ...unseen, acknowledged_at: later, served_at: at })).toBe(later);
    expect(lastContactOf(unseen)).toBeUndefined();
  });
});
