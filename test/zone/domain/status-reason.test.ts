import { describe, expect, it } from 'vitest';
import { statusReason } from '../../../src/zone/domain/status-reason.ts';

const MOVED = new Date('2026-05-01T00:00:00Z');
const GRACE_MS = 14 * 86_400_000;
const LOST = [{ code: 'CLAIM_LOST' }];

type Domain = Parameters<typeof statusReason>[0];
const why = (more: Partial<Domain>, graceMs?: number) =>
  statusReason(
    {
      status: 'disabled',
      dnsMode: 'managed',
      disabledBy: 'checker',
      movedSince: null,
      findings: [],
      ...more,
    },
    graceMs,
  );

describe('the reason of a status', () => {
  it.each(['pending', 'active', 'unverified', 'banned'] as const)('is not told of %s', (status) => {
    expect(why({ status, movedSince: MOVED }, GRACE_MS)).toBeUndefined();
  });

  it('is that a moved domain is delegated elsewhere, with the end of the grace where that is known', () => {
    const moved = { reason: 'delegated_elsewhere', until: new Date('2026-05-15T00:00:00Z') };
    expect(why({ status: 'moved', movedSince: MOVED }, GRACE_MS)).toEqual(moved);
    expect(why({ status: 'moved', movedSince: MOVED })).toEqual({ ...moved, until: undefined });
    expect(why({ status: 'moved' }, GRACE_MS)?.until).toBeUndefined();
  });

  it.each<[Partial<Domain>, string]>([
    [{}, 'not_delegated'],
    [{ dnsMode: 'external' }, 'not_verified'],
    [{ findings: LOST }, 'claim_lost'],
    [{ dnsMode: 'external', findings: LOST }, 'claim_lost'],
    [{ disabledBy: 'operator' }, 'switched_off'],
    [{ disabledBy: null }, 'switched_off'],
  ])('of a disabled domain with %o is %s', (more, reason) => {
    expect(why(more, GRACE_MS)).toEqual({ reason, until: undefined });
  });
});
