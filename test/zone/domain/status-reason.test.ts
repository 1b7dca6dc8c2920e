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

  it('tells of a moved domain until when it is answered', () => {
    expect(why({ status: 'moved', movedSince: MOVED }, GRACE_MS)).toEqual({
      reason: 'delegated_elsewhere',
      until: new Date('2026-05-15T00:00:00Z'),
    });
  });

  it('tells no time where the grace is not known', () => {
    expect(why({ status: 'moved', movedSince: MOVED })).toEqual({
      reason: 'delegated_elsewhere',
      until: undefined,
    });
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
