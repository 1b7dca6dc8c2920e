// Lets the rules act on a request, type by type: it is answered here, or goes to one of the targets. What a dry run would
// have done is noted, and the request goes on as if the rule were not there.

import type { EdgeOrigin } from '../../../../src/edge/edge-config.ts';
import type { EdgeRule, PoolOrigin } from '../../../../src/edge/edge-rule.ts';
import { judgeBotRoute } from '../rules/bot-route.ts';
import type { Challenges } from '../rules/challenge.ts';
import { judgeDrop } from '../rules/drop.ts';
import { judgeFingerprint } from '../rules/fingerprint.ts';
import type { OriginPools } from '../rules/origin-pool.ts';
import type { RateLimits } from '../rules/rate-limit.ts';
import { redirectOf } from '../rules/redirect.ts';
import { rewrittenPath } from '../rules/rewrite.ts';
import { scoreRequest } from '../rules/waf.ts';
import { matchesRule } from './match-rule.ts';
import {
  type Answer,
  type Deed,
  plainAnswer,
  type RuleOf,
  type Seen,
  type Target,
  type Visit,
} from './visit.ts';

/** The types whose rules may end a request, in their order; `dry_run` counts for these only. */
const FIRST_TYPES = ['drop', 'rate_limit', 'bot_route', 'fingerprint', 'waf', 'captcha', 'redirect'] as const;
/** Of a record's own challenge. */
const CHALLENGE_SECONDS = 3_600;

export interface Acting {
  readonly rates: RateLimits;
  readonly challenges: Challenges;
  readonly pools: OriginPools;
  /** Of the next of several origins. */
  nextTurn(host: string): number;
  pause(ms: number): Promise<void>;
}

export interface Forward {
  readonly path: string;
  /** The first choice first. */
  readonly targets: readonly Target[];
  readonly cache?: RuleOf<'cache'>;
  /** The pool that the targets are of, in the order of `targets`. */
  readonly pool?: { readonly rule: RuleOf<'origin_pool'>; readonly origins: readonly PoolOrigin[] };
}

export async function act(
  acting: Acting,
  visit: Visit,
  seen: Seen,
): Promise<{ answer: Answer } | { forward: Forward }> {
  let isAllowed = false;
  let destination: string | undefined;
  for (const type of FIRST_TYPES) {
    if (type === 'captcha' && isAllowed) continue;
    if (type === 'captcha' && visit.place.captcha && !acting.challenges.hasPassed(visit)) {
      return { answer: acting.challenges.page('js', CHALLENGE_SECONDS, visit) };
    }
    const deed = await firstDeed(type, acting, visit, seen);
    if (deed === undefined) continue;
    if (deed.kind === 'answer') return deed;
    if (deed.kind === 'challenge') {
      return { answer: acting.challenges.page(deed.mode, deed.validSeconds, visit) };
    }
    if (deed.kind === 'delay') await acting.pause(deed.ms);
    if (deed.kind === 'allow') isAllowed = true;
    if (deed.kind === 'route') destination = deed.destination;
  }
  return { forward: forwardOf(acting, visit, destination) };
}

/** Of the first rule of the type that acts. */
async function firstDeed(
  type: (typeof FIRST_TYPES)[number],
  acting: Acting,
  visit: Visit,
  seen: Seen,
): Promise<Deed | undefined> {
  for (const rule of visit.config.rules) {
    if (rule.type !== type || !matchesRule(rule, visit)) continue;
    const deed = await judge(rule, acting, visit, seen);
    if (deed === undefined) continue;
    if (rule.action_mode === 'dry_run') {
      seen.would.push({ rule: rule.id, type, kind: deed.kind });
      continue;
    }
    seen.rule = rule.id;
    if (deed.kind === 'answer' && type !== 'redirect')
      seen.reason = type === 'rate_limit' ? 'rule_limited' : 'rule_blocked';
    return deed;
  }
  return undefined;
}

async function judge(rule: EdgeRule, acting: Acting, visit: Visit, seen: Seen): Promise<Deed | undefined> {
  const challenge = (deed: Deed | undefined) =>
    deed?.kind === 'challenge' && acting.challenges.hasPassed(visit) ? undefined : deed;
  switch (rule.type) {
    case 'drop':
      return judgeDrop(rule, visit);
    case 'rate_limit':
      return challenge(acting.rates.judge(rule, visit));
    case 'bot_route':
      return challenge(judgeBotRoute(rule, visit));
    case 'fingerprint':
      return challenge(judgeFingerprint(rule, visit));
    case 'waf': {
      const score = await scoreRequest(rule, visit);
      seen.score = score;
      return score >= rule.threshold ? { kind: 'answer', answer: plainAnswer(403, 'Forbidden') } : undefined;
    }
    case 'captcha':
      return challenge({ kind: 'challenge', mode: rule.mode, validSeconds: rule.valid_seconds });
    case 'redirect':
      return { kind: 'answer', answer: redirectOf(rule, visit) };
    default:
      return undefined;
  }
}

function forwardOf(acting: Acting, visit: Visit, destination: string | undefined): Forward {
  const rewrite = firstRule(visit, 'rewrite');
  const path =
    rewrite !== undefined
      ? rewrittenPath(rewrite, visit)
      : visit.query === ''
        ? visit.path
        : `${visit.path}?${visit.query}`;
  const cache = firstRule(visit, 'cache');
  return { path, ...(cache && { cache }), ...targetsOf(acting, visit, destination) };
}

/** A pool before a route, a route before where robots are sent, all before the record's own origins. */
function targetsOf(
  acting: Acting,
  visit: Visit,
  destination: string | undefined,
): Pick<Forward, 'targets' | 'pool'> {
  const { origins, host } = visit.place;
  const turn = origins.length === 0 ? 0 : acting.nextTurn(host) % origins.length;
  const own = [...origins.slice(turn), ...origins.slice(0, turn)].map(targetOf);
  const timeoutMs = own[0]?.timeoutMs ?? 15_000;
  const pool = firstRule(visit, 'origin_pool');
  if (pool !== undefined) {
    const chosen = acting.pools.choose(pool, visit);
    const targets = chosen.map((origin) => ({
      destination: origin.host,
      scheme: origin.scheme,
      port: origin.port,
      timeoutMs,
    }));
    return { targets, pool: { rule: pool, origins: chosen } };
  }
  const route = firstRule(visit, 'origin_route');
  if (route !== undefined) {
    const { destination: to, scheme, port, host_header } = route;
    return {
      targets: [
        { destination: to, scheme, port, timeoutMs, ...(host_header !== undefined && { host_header }) },
      ],
    };
  }
  const [first] = own;
  if (destination !== undefined && first !== undefined) return { targets: [{ ...first, destination }] };
  return { targets: own };
}

function targetOf({ destination, scheme, port, host_header, timeout_seconds }: EdgeOrigin): Target {
  return {
    destination,
    scheme,
    port,
    timeoutMs: timeout_seconds * 1_000,
    ...(host_header !== undefined && { host_header }),
  };
}

function firstRule<T extends EdgeRule['type']>(visit: Visit, type: T): RuleOf<T> | undefined {
  return visit.config.rules.find((rule): rule is RuleOf<T> => rule.type === type && matchesRule(rule, visit));
}
