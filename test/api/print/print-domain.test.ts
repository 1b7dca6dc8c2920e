import { describe, expect, it } from 'vitest';
import { printDomain } from '../../../src/api/print/print-domain.ts';
import { parseName } from '../../../src/dns/name.ts';
import type { VisibleDomain } from '../../../src/store/domains/domain.ts';

const NOW = Date.parse('2026-05-01T12:00:00Z');
const domain = {
  name: parseName('xn--bcher-kva.example.'),
  unicode: 'bücher.example',
  createdAt: new Date(NOW),
  updatedAt: new Date(NOW),
  nameserverSets: [[parseName('ns1.example.net.')], [parseName('ns.example.org.')]],
  verification: null,
  developerModeUntil: null,
  pendingSince: null,
  movedSince: null,
  nextCheckAt: null,
  lastManualNsCheckAt: null,
  suspendedAt: null,
  suspendedBy: [],
  nsCheckIntervalSeconds: null,
  currentNs: null,
  findings: [{ code: 'X', message: 'x', internal: 1 }],
  myRole: 'viewer',
} as unknown as VisibleDomain;

const print = (more: Partial<VisibleDomain>) => printDomain({ ...domain, ...more }, { nowMs: NOW });

describe('a domain in an answer', () => {
  it('has names without the final dot, its own set of nameservers first', () => {
    expect(print({})).toMatchObject({
      name: 'xn--bcher-kva.example',
      name_unicode: 'bücher.example',
      svc_ns: ['ns1.example.net'],
      svc_ns_sets: [['ns1.example.net'], ['ns.example.org']],
      findings: [{ code: 'X', message: 'x' }],
    });
    expect(print({ currentNs: [parseName('a.example.')] }).current_ns).toEqual(['a.example']);
    expect(print({ currentNs: [] }).current_ns).toEqual([]);
  });

  it('says why it is moved or disabled, and until when it is answered', () => {
    const moved = { ...domain, status: 'moved', movedSince: new Date(NOW) } as VisibleDomain;
    expect(printDomain(moved, { nowMs: NOW, movedGraceMs: 86_400_000 })).toMatchObject({
      status_reason: { code: 'delegated_elsewhere', message: expect.stringContaining('still answer') },
      status_until: '2026-05-02T12:00:00.000Z',
    });
    expect(print({ status: 'disabled', disabledBy: 'operator' })).toMatchObject({
      status_reason: { code: 'switched_off' },
    });
    for (const field of ['status_reason', 'status_until']) {
      expect(print({ status: 'active' })).not.toHaveProperty(field);
    }
  });

  it('shows of a turn the minute only: it begins when another account’s claim comes', () => {
    const nsTurn = { from: new Date(NOW + 1234), until: new Date(NOW + 901_234) };
    expect(print({ status: 'pending', nsTurn }).ns_turn).toEqual({
      from: '2026-05-01T12:00:00.000Z',
      until: '2026-05-01T12:15:00.000Z',
    });
  });

  it('does not show a developer mode that has ended', () => {
    expect(print({ developerModeUntil: new Date(NOW) })).not.toHaveProperty('developer_mode_until');
    expect(print({ developerModeUntil: new Date(NOW + 1) }).developer_mode_until).toBe(
      '2026-05-01T12:00:00.001Z',
    );
  });

  it('counts the seconds until the verification expires down to 0', () => {
    const seconds = (offsetMs: number) =>
      print({
        verification: {
          host: parseName('_svc-challenge.xn--bcher-kva.example.'),
          value: 'svc-verify=x',
          verified: false,
          verifiedUntil: null,
          startedAt: new Date(NOW),
          expiresAt: new Date(NOW + offsetMs),
          nextAt: null,
        },
      }).verification?.seconds_remaining;
    expect([90_500, 1000, 999, 0, -5000].map(seconds)).toEqual([90, 1, 0, 0, 0]);
  });

  it('shows every time that is set', () => {
    const at = new Date(NOW);
    const printed = print({
      pendingSince: at,
      movedSince: at,
      nextCheckAt: at,
      suspendedAt: at,
      nsCheckIntervalSeconds: 60,
    });
    expect(printed).toMatchObject({
      pending_since: '2026-05-01T12:00:00.000Z',
      moved_since: '2026-05-01T12:00:00.000Z',
      next_check_at: '2026-05-01T12:00:00.000Z',
      suspended_at: '2026-05-01T12:00:00.000Z',
      ns_check_interval_seconds: 60,
    });
  });
});
