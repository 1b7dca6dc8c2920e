import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { hidePasswords, hideTokens } from '../../src/process/hide-passwords.ts';
import { bundle } from '../support/processes/bundle.ts';

/** What is meant, said in the shortest way: each attempt of the first looks at all that is left, which is quadratic. */
function hidePasswordsSlowly(text: string): string {
  return text
    .replaceAll(/(\w:\/\/[^\s/:@"\\]*):[^\s"\\]*@/g, '$1:***@')
    .replaceAll(/([?&](?:password|sslpassword)=)[^\s&"\\]*/gi, '$1***');
}

describe('hidePasswords', () => {
  it.each([
    ['postgresql://u:p@ss:w/rd@h:5432/d', 'postgresql://u:***@h:5432/d'],
    ['postgresql://:p@h/d', 'postgresql://:***@h/d'],
    ['postgresql://u:@h/d', 'postgresql://u:***@h/d'],
    ['postgresql://u@/d?host=%2Frun&password=p&port=1', 'postgresql://u@/d?host=%2Frun&password=***&port=1'],
    ['redis://h/0?x=1&SSLPassword=p?q "', 'redis://h/0?x=1&SSLPassword=*** "'],
    ['postgresql://u@h:5432/d', 'postgresql://u@h:5432/d'],
    ['a://x:p@h b://y:q@i', 'a://x:***@h b://y:***@i'],
    ['a://x@h://y:q@i', 'a://x@h://y:***@i'],
    ['a://x/@b://y:z', 'a://x/@b://y:z'],
    ['listening on http://127.0.0.1:9153/metrics', 'listening on http://127.0.0.1:9153/metrics'],
  ])('turns %s into %s', (text, hidden) => {
    expect(hidePasswords(text)).toBe(hidden);
  });

  it('hides what the slow, obvious rule hides, in any text', () => {
    const piece = fc.constantFrom(
      ...['a', '://', 'p://u:', ':', '@', '/', ' ', '"', '\\', '\n', '?', '&', 'password=', 'sslPASSWORD='],
      ...['\u00a0', 'é', '😀', '=', '***'],
    );
    fc.assert(
      fc.property(
        fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join('')),
        (text) => {
          expect(hidePasswords(text)).toBe(hidePasswordsSlowly(text));
        },
      ),
      { numRuns: 5000 },
    );
  });

  // In a process of its own, which can be ended: a quadratic rule takes an hour for the first of them.
  it('takes linear time: 8 million characters that look like the beginning of a URL', async () => {
    const pieces = ['a://u:', 'a://', '@a://u:', 'a:', '?password=', '&password', ':', '/', 'a://u', '@'];
    const script = `import { hidePasswords } from './src/process/hide-passwords.ts';
      for (const piece of ${JSON.stringify(pieces)}) {
        const long = piece.repeat(Math.ceil(8e6 / piece.length));
        console.log(piece, hidePasswords(long).length > 0);
      }`;
    const child = spawn(process.execPath, ['--input-type=module'], { timeout: 60_000 });
    child.stdin.end(bundle(script));
    const stdout = await text(child.stdout);
    expect(stdout).toBe(pieces.map((piece) => `${piece} true\n`).join(''));
  }, 70_000);
});

it('tokens are taken out of any text, names that look a little like them are not', () => {
  const text = `Bearer ses_${'a1B'.repeat(14)}x, svc_${'0'.repeat(40)}, #reset=lnk_${'Z'.repeat(43)}, /invites/inv_${'7'.repeat(43)}; svc_ns svc_short`;
  expect(hideTokens(text)).toBe(
    'Bearer ses_***, svc_***, #reset=lnk_***, /invites/inv_***; svc_ns svc_short',
  );
});
