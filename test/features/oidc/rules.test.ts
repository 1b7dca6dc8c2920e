import { describe, expect, it } from 'vitest';
import {
  flowSecrets,
  isRecent,
  judgeNewcomer,
  PURPOSES,
  readPerson,
} from '../../../src/features/oidc/rules.ts';

const KEY = { issuer: 'https://id.test', subject: 'ann', isFresh: false };
const RULES = { link: ['shop.test'], create: ['new.test'] };
const person = (claims: object) => readPerson({ ...claims }, KEY, { name: 'groups', value: 'dns' });

describe('the secrets of a sign-in', () => {
  it('differ by cookie, purpose and use, and do not contain the cookie', () => {
    const all = ['flow_a', 'flow_b'].flatMap((cookie) =>
      PURPOSES.flatMap((purpose) => Object.values(flowSecrets(cookie, purpose))),
    );
    expect(new Set(all).size).toBe(18);
    expect(all.every((text) => /^[\w-]{43}$/.test(text) && !text.includes('flow'))).toBe(true);
    expect(flowSecrets('flow_a', 'link')).toEqual(flowSecrets('flow_a', 'link'));
  });
});

describe('readPerson', () => {
  it.each([
    [
      { email: 'a@shop.test', email_verified: true },
      { email: 'a@shop.test', isEmailVerified: true },
    ],
    [{ email: 'a@shop.test', email_verified: 1 }, { isEmailVerified: false }],
    [
      { email: ['a@shop.test'], email_verified: true },
      { email: null, isEmailVerified: false },
    ],
    [{ email: `${'a'.repeat(250)}@b.test`, email_verified: true }, { email: null }],
    [
      { email: 'a\0@shop.test', email_verified: true },
      { email: null, isEmailVerified: false },
    ],
    [{ name: ' \u202e\n ' }, { name: null }],
    [{ name: { first: 'A' } }, { name: null }],
    [{ name: 'A'.repeat(300) }, { name: 'A'.repeat(200) }],
    [{ groups: ['x', 'dns'] }, { isOperator: true }],
    [{ groups: 'dns' }, { isOperator: true }],
    [{ groups: 'dns-admins' }, { isOperator: false }],
    [{ groups: [['dns']] }, { isOperator: false }],
    [{}, { isOperator: false, email: null, name: null }],
  ])('reads %j', (claims, expected) => expect(person(claims)).toMatchObject({ ...KEY, ...expected }));

  it.each(['', 'a'.repeat(1001), 'é'.repeat(501), 'a\0', 'a\ud800'])('rejects the subject %j', (subject) => {
    expect(() => readPerson({}, { ...KEY, subject }, undefined)).toThrow(/^sub: expected 1 to 1000 bytes/);
  });

  it.each(['a'.repeat(1000), 'é'.repeat(500), 'S-1|a b'])('accepts the subject %j', (subject) => {
    expect(readPerson({}, { ...KEY, subject }, undefined).subject).toBe(subject);
  });

  it('leaves the rights alone if no claim is configured', () => {
    expect(readPerson({ groups: 'dns' }, KEY, undefined).isOperator).toBeUndefined();
  });
});

describe('isRecent', () => {
  const NOW_MS = 1_800_000_000_000;
  it.each([
    [undefined, false],
    [-60, false],
    [-59, true],
    [0, true],
    [359, true],
    [360, false],
  ])('for an authentication %s seconds ago is %s', (age, expected) =>
    expect(isRecent(age === undefined ? age : NOW_MS / 1000 - age, NOW_MS)).toBe(expected));
});

describe('judgeNewcomer', () => {
  const ann = (email: string, verified = true) => person({ email, email_verified: verified });
  const confirmed = { isEmailConfirmed: true, hasIdentity: false };

  it.each([
    ['a@SHOP.test', confirmed, 'link'],
    ['a@new.test', undefined, 'create'],
    ['a@shop.test', undefined, 'refused'],
    ['a@new.test', confirmed, 'refused'],
    ['a@sub.shop.test', confirmed, 'refused'],
    ['a@shop.test@evil.test', confirmed, 'refused'],
    ['a@shop.test', { ...confirmed, isEmailConfirmed: false }, 'refused'],
    ['a@shop.test', { ...confirmed, hasIdentity: true }, 'refused'],
  ])('decides about %s', (email, account, kind) =>
    expect(judgeNewcomer(ann(email), account, RULES).kind).toBe(kind));

  it('refuses an address that is not verified, with the same text for every address', () => {
    const texts = [
      judgeNewcomer(ann('a@shop.test', false), confirmed, RULES),
      judgeNewcomer(ann('a@new.test', false), undefined, RULES),
      judgeNewcomer(ann('a@elsewhere.test'), confirmed, RULES),
      judgeNewcomer(ann('a@elsewhere.test'), undefined, RULES),
    ];
    expect(new Set(texts.map((each) => JSON.stringify(each))).size).toBe(1);
    expect(texts[0]?.kind).toBe('refused');
  });
});
