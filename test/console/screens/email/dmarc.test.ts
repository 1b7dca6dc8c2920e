import { describe, expect, it } from 'vitest';
import {
  dmarcAddressOf,
  dmarcPolicyOf,
  dmarcText,
  isDmarc,
  reportConsentName,
} from '../../../../console/src/screens/email/dmarc.ts';

describe('a DMARC policy', () => {
  it('is recognized by its version (RFC 7489 §6.4)', () => {
    expect(['v=DMARC1; p=none', 'v = DMARC1;p=none', 'v=dmarc1; p=none', 'p=none'].map(isDmarc)).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it.each([
    [undefined, 'none', '', 'v=DMARC1; p=none'],
    [undefined, 'reject', ' d@a.example ', 'v=DMARC1; p=reject; rua=mailto:d@a.example'],
    [
      'v=DMARC1;p=none;sp=reject; pct=50;rua=mailto:old@a.example',
      'quarantine',
      'd@a.example',
      'v=DMARC1; p=quarantine; rua=mailto:d@a.example; sp=reject; pct=50',
    ],
    [
      'v=DMARC1; p=none; rua=mailto:a@a.example,mailto:b@b.example; fo=1',
      'reject',
      'a@a.example',
      'v=DMARC1; p=reject; rua=mailto:a@a.example,mailto:b@b.example; fo=1',
    ],
    ['v=DMARC1; p=none; rua=mailto:a@a.example', 'reject', '', 'v=DMARC1; p=reject'],
    [
      'v=DMARC1; p=none; rua=mailto:a@a.example',
      'reject',
      undefined,
      'v=DMARC1; p=reject; rua=mailto:a@a.example',
    ],
  ] as const)('%s becomes %s with the address "%s"', (existing, policy, address, expected) =>
    expect(dmarcText(existing, policy, address)).toBe(expected));

  it('has a policy and an address', () => {
    expect(dmarcPolicyOf('v=DMARC1; P=Reject')).toBe('reject');
    expect(dmarcPolicyOf('v=DMARC1; p=other')).toBeUndefined();
    expect(dmarcAddressOf('v=DMARC1; p=none; rua=mailto:a@b.example!10m,mailto:c@d.example')).toBe(
      'a@b.example',
    );
    expect(dmarcAddressOf('v=DMARC1; p=none')).toBe('');
  });

  it('needs consent for reports to another domain (RFC 7489 §7.1)', () => {
    expect(reportConsentName('d@reports.test', 'shop.example')).toBe(
      'shop.example._report._dmarc.reports.test',
    );
    for (const address of ['', 'd@a.shop.example', 'd@mail.a.shop.example', 'd@shop.example'])
      expect(reportConsentName(address, 'a.shop.example')).toBeUndefined();
  });
});
