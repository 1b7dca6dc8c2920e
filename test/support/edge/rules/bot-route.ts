// Lets robots pass, refuses or challenges them, or sends them to an origin of their own.

import { type Deed, plainAnswer, type RuleOf, type Visit } from '../proxy/visit.ts';

const CHALLENGE_SECONDS = 3_600;
const CALLS_ITSELF_A_BOT = /bot\b|crawl|spider|slurp/i;

export function judgeBotRoute(rule: RuleOf<'bot_route'>, visit: Visit): Deed | undefined {
  if (!isMeant(rule, visit)) return undefined;
  switch (rule.action) {
    case 'allow':
      return { kind: 'allow' };
    case 'block':
      return { kind: 'answer', answer: plainAnswer(403, 'Forbidden') };
    case 'captcha':
      return { kind: 'challenge', mode: 'js', validSeconds: CHALLENGE_SECONDS };
    case 'route':
      return rule.destination === undefined ? undefined : { kind: 'route', destination: rule.destination };
  }
}

/** Verified: by the network that it comes from, whatever it calls itself. */
function isMeant(rule: RuleOf<'bot_route'>, { headers, isVerifiedBot }: Visit): boolean {
  const agent = headers['user-agent'] ?? '';
  if (rule.bots === 'verified') return isVerifiedBot;
  if (rule.bots === 'unverified') return !isVerifiedBot && CALLS_ITSELF_A_BOT.test(agent);
  const lower = agent.toLowerCase();
  return rule.list.some((part) => lower.includes(part.toLowerCase()));
}
