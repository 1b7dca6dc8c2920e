// Refuses, challenges or lets pass clients by the fingerprint of their TLS handshake; plain HTTP has none.

import { type Deed, plainAnswer, type RuleOf, type Visit } from '../proxy/visit.ts';

const CHALLENGE_SECONDS = 3_600;

export function judgeFingerprint(rule: RuleOf<'fingerprint'>, { fingerprint }: Visit): Deed | undefined {
  if (fingerprint === undefined || !rule.fingerprints.includes(fingerprint)) return undefined;
  if (rule.action === 'allow') return { kind: 'allow' };
  if (rule.action === 'captcha') return { kind: 'challenge', mode: 'js', validSeconds: CHALLENGE_SECONDS };
  return { kind: 'answer', answer: plainAnswer(403, 'Forbidden') };
}
