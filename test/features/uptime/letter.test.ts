import { expect, it } from 'vitest';
import { writeOutageLetter } from '../../../src/features/uptime/rules.ts';

it('the letter about an outage says in its subject whether it begins or is over', () => {
  const of = (message: string, isOver: boolean) =>
    writeOutageLetter('ann@example.org', {
      domain: 'shop.test',
      isOver,
      message,
      publicUrl: 'https://dns.test',
    });
  const begun = of('Since 2026-01-01 00:00 UTC your origins do not answer as they should.', false);
  expect([begun.to, begun.subject]).toEqual(['ann@example.org', 'shop.test: origins are down']);
  expect(begun.text).toContain('do not answer as they should.\n');
  expect(begun.text).toContain('https://dns.test');
  expect(of('Your origins answer again.', true).subject).toBe('shop.test: origins answer again');
});
