import { expect, it } from 'vitest';
import { writeOutageLetter } from '../../../src/features/uptime/rules.ts';

it('the subject of the letter about an outage says whether it began or ended', () => {
  const of = (message: string, isOver: boolean) =>
    writeOutageLetter('ann@example.org', {
      domain: 'shop.test',
      isOver,
      message,
      publicUrl: 'https://dns.test',
    });
  const begun = of('Since 2026-01-01 00:00 UTC, your origins have been failing.', false);
  expect([begun.to, begun.subject]).toEqual(['ann@example.org', 'shop.test: origins are down']);
  expect(begun.text).toContain('your origins have been failing.\n');
  expect(begun.text).toContain('https://dns.test');
  expect(of('Your origins respond again.', true).subject).toBe('shop.test: origins respond again');
});
