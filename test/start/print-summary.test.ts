import { describe, expect, it } from 'vitest';
import { summary } from '../../src/start/print-summary.ts';

const at = { address: '127.0.0.1', port: 8053 };
const started = {
  addresses: [at],
  api: [at],
  metrics: [at],
  registrar: undefined,
  place: 'embedded PostgreSQL in /somewhere',
  first: undefined,
  shownKey: 'svc_…',
  publicUrl: 'http://127.0.0.1:8053',
  hasConsole: true,
  secrets: undefined,
  question: 'www.shop.example A',
  remark: undefined,
  path: '/domains/',
};

describe('what npm start prints', () => {
  it('says how to sign in, at the first start and at each further one', () => {
    const first = { key: 'svc_first', link: 'http://127.0.0.1:8053/console/#sign-in=lnk_x' };
    expect(summary({ ...started, first })).toContain(`  sign in   ${first.link} `);
    expect(summary(started)).toMatch(/^ {2}sign in {3}npx zonefleet account sign-in EMAIL /m);
  });

  it('says nothing of it without a console', () => {
    expect(summary({ ...started, hasConsole: false })).not.toContain('sign in');
  });
});
