import { describe, expect, it } from 'vitest';
import { caaNames, judgeCaa } from '../../src/checks/caa/judge-caa.ts';

describe('CAA', () => {
  const issuer = {
    identities: ['ca.example', 'ca.example.net'],
    method: 'dns-01' as const,
    accountUrl: 'https://ca.example/acct/1',
  };
  const at = 'shop.example';
  const judged = (name: string, ...records: [string, string, number?][]) =>
    judgeCaa(
      name,
      {
        kind: 'found',
        at,
        records: records.map(([tag, value, flags = 0]) => ({ tag, value, flags })),
      },
      issuer,
    );

  it('are looked up from the name to the top-level domain', () => {
    expect(caaNames('*.a.shop.example')).toEqual(['a.shop.example', 'shop.example', 'example']);
  });

  it('allow whatever no record forbids', () => {
    expect(judgeCaa(at, { kind: 'none' }, issuer)).toBeUndefined();
    expect(judgeCaa(at, { kind: 'failed', message: 'silence' }, issuer)).toBeUndefined();
    expect(judged(at, ['iodef', 'mailto:a@example'])).toBeUndefined();
    expect(judged(at, ['issue', 'CA.example.net'])).toBeUndefined();
    expect(
      judged(at, ['ISSUE', 'other.example'], ['issue', ' ca.example ; validationmethods=dns-01']),
    ).toBeUndefined();
  });

  it('forbid issuance if they name only other authorities or none, and the message says what to add', () => {
    expect(judged(at, ['issue', 'other.example'])).toBe(
      'the CAA records at shop.example do not let ca.example issue for shop.example: add CAA 0 issue "ca.example"',
    );
    expect(judged(at, ['issue', ';'])).toMatch(/do not let/);
    expect(judged(at, ['issue', 'ca.example; %%'])).toMatch(/do not let/);
  });

  it('use only issuewild for wildcards if there is one, and ignore it for other names', () => {
    expect(judged('*.shop.example', ['issue', 'ca.example'], ['issuewild', ';'])).toMatch(
      /add CAA 0 issuewild/,
    );
    expect(judged('*.shop.example', ['issue', ';'], ['issuewild', 'ca.example'])).toBeUndefined();
    expect(judged('*.shop.example', ['issue', 'ca.example'])).toBeUndefined();
    expect(judged(at, ['issuewild', ';'])).toBeUndefined();
  });

  it('forbid issuance if a critical property is unknown, and only then', () => {
    expect(judged(at, ['future', 'x', 128], ['issue', 'ca.example'])).toMatch(/critical property future/);
    expect(judged(at, ['future', 'x'], ['issue', 'ca.example'])).toBeUndefined();
  });

  it('may restrict the account and the methods', () => {
    expect(judged(at, ['issue', 'ca.example; accounturi=https://ca.example/acct/1'])).toBeUndefined();
    expect(judged(at, ['issue', 'ca.example; accounturi=https://ca.example/acct/2'])).toMatch(/do not let/);
    expect(judged(at, ['issue', 'ca.example; validationmethods=http-01,tls-alpn-01'])).toMatch(/do not let/);
  });
});
