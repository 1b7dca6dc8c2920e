// Lists the places where a presented secret is compared with a known one: by a lookup of its hash, or in constant time. A
// new place must be added here, so that it is noticed.

import { describe, expect, it } from 'vitest';
import { offenders, sources, withoutComments } from '../support/tests/sources.ts';

/** A lookup by the hash of the whole text reveals nothing by its duration, because another text has another hash. */
const LOOKED_UP_BY_HASH = [
  'src/store/accounts/api-keys.ts',
  'src/store/accounts/first-admin.ts',
  'src/store/accounts/hashed-secrets.ts',
  'src/store/people/credentials.ts',
  'src/store/people/identities.ts',
  'src/store/people/sessions.ts',
  'src/store/people/sign-in-attempts.ts',
  'src/store/people/totp.ts',
  'src/store/sharing/accept-invite.ts',
];

/** Comparisons without a lookup, and how they work. */
const COMPARED: Readonly<Record<string, RegExp>> = {
  // A code of an authenticator app has a million values. All valid codes are compared completely.
  'src/api/people/totp.ts': /timingSafeEqual\(/,
  'src/api/people/passwords.ts': /argonVerify\(/,
  // Ed25519: none of the compared values is secret.
  'src/process/vantage-signature.ts': /return verify\(null,/,
  // The signature of a payment gateway's notice.
  'src/billing/gateway.ts': /timingSafeEqual\(own,/,
  // Hashes of user and password of the embedded analytics engine.
  'src/start/analytics/door.ts': /timingSafeEqual\(digest\(/,
  // The hash of a DNS cookie: all its bits are joined before one comparison.
  'src/nameserver/answer/cookies.ts': /\(option\.getInt32\(at\) \^ hash\.getInt32\(0\)\) \|/,
};

const SECRET =
  /(?:token|secret|password|passwd|credential|cookie|otp|totp|recovery|apikey|keytext|hash|hmac|mac|signature)$/i;
/** The last word of an operand: `caller.session.token` is `token`. */
const wordOf = (side: string) => /(\w+)(?:\(\))?$/.exec(side)?.[1] ?? '';
/** A comparison with a literal, a constant or nothing reveals only the kind of a value, or if there is one. */
const isPlain = (side: string) =>
  /^(?:undefined|null|true|false|-?[\d_]+|'[^']*'|"[^"]*"|[A-Z_]+(?:\.[A-Z_]+)*)$/.test(side);
const SIDE = String.raw`(?:'[^']*'|"[^"]*"|[\w.#?!]+(?:\(\))?)`;
const COMPARISON = new RegExp(`(${SIDE}) (?:===|!==|==|!=) (${SIDE})`, 'g');

/** All data there is public: zones, servers' answers, and findings. */
const isPublic = (path: string) =>
  /^src\/(dns|zone|checks|resolver|store\/checks|nameserver\/image)\//.test(path);

describe('a secret', () => {
  it('is not compared with an operator, which would stop at the first different character', () => {
    const found = offenders(({ path, text }) =>
      isPublic(path)
        ? []
        : [...withoutComments(text).matchAll(COMPARISON)].flatMap(([all, left = '', right = '']) =>
            [left, right].some(isPlain) || ![left, right].some((side) => SECRET.test(wordOf(side)))
              ? []
              : [all],
          ),
    );
    expect(found).toEqual([]);
  });

  it('is looked up only by its hash', () => {
    const compared = sources.filter(({ text }) =>
      /\bhash = (?:any\()?\$\{|'hash', '=',|\bhash = \$\{hash/.test(withoutComments(text)),
    );
    expect(compared.map(({ path }) => path).sort()).toEqual(LOOKED_UP_BY_HASH);
    const inTheClear = offenders(({ path, text }) =>
      path.startsWith('src/store/')
        ? (text.match(/\b(?:token|password|secret|otp|password_hash)\s*=\s*(?:any\()?\$\{/gi) ?? [])
        : [],
    );
    expect(inTheClear.filter((what) => !/password_hash = \$\{$/.test(what))).toEqual([]);
  });

  it('is otherwise compared only in these places', () => {
    const comparing = sources.filter(({ path, text }) =>
      isPublic(path) ? false : /timingSafeEqual\(|argonVerify\(|\bverify\(null,|getInt32\(at\) \^/.test(text),
    );
    expect(comparing.map(({ path }) => path).sort()).toEqual(Object.keys(COMPARED).sort());
    for (const { path, text } of comparing) expect(text).toMatch(COMPARED[path] as RegExp);
  });
});
