// Where a secret that somebody presents is compared with one that is known: by a look-up of its hash, or in a time that does not
// tell how much of it is right. Each place stands here, so that a new one is seen.

import { describe, expect, it } from 'vitest';
import { offenders, sources, withoutComments } from '../support/tests/sources.ts';

/** Whoever presents it learns nothing from the time: the hash of the whole text is looked up, and another text has another one. */
const LOOKED_UP_BY_HASH = [
  'src/store/accounts/api-keys.ts',
  'src/store/accounts/first-admin.ts',
  'src/store/accounts/hashed-secrets.ts',
  'src/store/people/credentials.ts',
  'src/store/people/sessions.ts',
  'src/store/people/sign-in-attempts.ts',
  'src/store/people/totp.ts',
  'src/store/sharing/accept-invite.ts',
];

/** What compares without a look-up, and how. */
const COMPARED: Readonly<Record<string, RegExp>> = {
  // A code of an authenticator app has a million values: all that count are compared whole.
  'src/api/people/totp.ts': /timingSafeEqual\(/,
  'src/api/people/passwords.ts': /argonVerify\(/,
  // Ed25519: nothing that is compared is secret.
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
/** The last word of what stands on one side: `caller.session.token` is `token`. */
const wordOf = (side: string) => /(\w+)(?:\(\))?$/.exec(side)?.[1] ?? '';
/** With a literal, a constant or nothing, a comparison tells only of what kind it is, or whether there is one. */
const isPlain = (side: string) =>
  /^(?:undefined|null|true|false|-?[\d_]+|'[^']*'|"[^"]*"|[A-Z_]+(?:\.[A-Z_]+)*)$/.test(side);
const SIDE = String.raw`(?:'[^']*'|"[^"]*"|[\w.#?!]+(?:\(\))?)`;
const COMPARISON = new RegExp(`(${SIDE}) (?:===|!==|==|!=) (${SIDE})`, 'g');

/** Everything there is public: zones, what servers answer, and what was found. */
const isPublic = (path: string) =>
  /^src\/(dns|zone|checks|resolver|store\/checks|nameserver\/image)\//.test(path);

describe('a secret', () => {
  it('is compared by no operator, which would stop at the first character that differs', () => {
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

  it('is looked up by its hash alone', () => {
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

  it('is else compared in these places', () => {
    const comparing = sources.filter(({ path, text }) =>
      isPublic(path) ? false : /timingSafeEqual\(|argonVerify\(|\bverify\(null,|getInt32\(at\) \^/.test(text),
    );
    expect(comparing.map(({ path }) => path).sort()).toEqual(Object.keys(COMPARED).sort());
    for (const { path, text } of comparing) expect(text).toMatch(COMPARED[path] as RegExp);
  });
});
