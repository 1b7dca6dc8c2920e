import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ACTION_NAMES, ruleOf } from '../../../src/store/audit/audit-actions.ts';
import { recordedSides } from '../../../src/store/audit/tell-audit.ts';
import { anyCharacter } from '../../support/random/any-character.ts';

it('the fields of the actions include no secrets', () => {
  const fields = ACTION_NAMES.flatMap((action) => ruleOf(action).fields);
  expect(fields.filter((field) => /pass|secret|token|hash|otp_|seed|sealed|code|cookie/.test(field))).toEqual(
    [],
  );
  expect(fields).not.toContain('key');
  expect(fields).not.toContain('link');
});

describe('an audit row', () => {
  it.each([
    [
      'only the fields of the action',
      'account.create',
      { after: { email: 'a@b.test', password: 'p', password_hash: 'h', token: 't' } },
      { after: { email: 'a@b.test' } },
    ],
    [
      'only differences between two sides',
      'account.update',
      { before: { email: 'a@b.test', admin: false }, after: { email: 'a@b.test', admin: true } },
      { before: { admin: false }, after: { admin: true } },
    ],
    [
      'a field that was not there before',
      'account.update',
      { before: {}, after: { name: 'Ada' } },
      { after: { name: 'Ada' } },
    ],
    ['nothing if nothing differs', 'account.update', { before: { name: 'A' }, after: { name: 'A' } }, {}],
    ['no unlisted fields', 'account.password', { after: { password: 'p' } }, {}],
    [
      'times as text, lists and flat objects unchanged',
      'domain.plan',
      { after: { expires_at: new Date(0), overrides: { max_records: 5, logs_enabled: true } } },
      {
        after: { expires_at: '1970-01-01T00:00:00.000Z', overrides: { max_records: 5, logs_enabled: true } },
      },
    ],
    [
      'no credential from a name',
      'key.create',
      {
        after: {
          name: `svc_${'a'.repeat(40)} of Ada`,
          domains: [`ses_${'b'.repeat(43)}`, `inv_${'c'.repeat(43)}`],
        },
      },
      { after: { name: 'svc_… of Ada', domains: ['ses_…', 'inv_…'] } },
    ],
    [
      'no text that Postgres cannot store',
      'account.update',
      { after: { name: 'a\0b\ud800c😀' } },
      { after: { name: 'abc😀' } },
    ],
    [
      'long texts shortened',
      'account.update',
      { after: { name: 'x'.repeat(600) } },
      { after: { name: `${'x'.repeat(500)}…` } },
    ],
    [
      'long lists shortened',
      'key.create',
      { after: { names: Array.from({ length: 53 }, (_, i) => `n${i}`) } },
      { after: { names: [...Array.from({ length: 50 }, (_, i) => `n${i}`), '… 3 more'] } },
    ],
  ] as const)('has %s', (_, action, sides, told) => {
    expect(recordedSides(action, sides)).toEqual(told);
  });

  it('has at most 8 KiB on each side, and keeps the names of its fields', () => {
    const value = fc.oneof(
      fc.jsonValue(),
      fc.string({ unit: anyCharacter, minLength: 0, maxLength: 9000 }),
      fc.array(fc.string({ minLength: 400, maxLength: 900 }), { maxLength: 80 }),
      fc.dictionary(fc.string({ maxLength: 900 }), fc.string({ maxLength: 900 }), { maxKeys: 80 }),
    );
    const side = fc.record({ domains: value, names: value, types: value, name: value });
    fc.assert(
      fc.property(side, side, (before, after) => {
        const told = recordedSides('key.create', { before, after });
        for (const one of [told.before, told.after]) {
          const text = JSON.stringify(one ?? {});
          expect(Buffer.byteLength(text)).toBeLessThanOrEqual(8192);
          // Without escaped backslashes.
          expect(text.replaceAll('\\\\', '')).not.toMatch(/\\u0000|\\ud[89ab]/i);
        }
      }),
      { numRuns: 12 },
    );
    const large = { domains: Array.from({ length: 50 }, () => 'y'.repeat(499)), name: 'kept' };
    expect(recordedSides('key.create', { after: large }).after).toEqual({
      domains: '… too long',
      name: 'kept',
    });
  });
});
