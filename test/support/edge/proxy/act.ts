// Which rule ends a request, and to which origins it goes otherwise. This proxy obeys rules of the types `drop` and `cache`;
// the tests of docs/edge-agent show the others.

import type { EdgeOrigin } from '../../../../src/edge/edge-config.ts';
import type { EdgeRule } from '../../../../src/edge/edge-rule.ts';
import { type Answer, plainAnswer, type RuleOf, type Seen, type Target, type Visit } from './visit.ts';

export interface Acting {
  /** Of the next of several origins. */
  nextTurn(host: string): number;
}

export interface Forward {
  readonly path: string;
  /** The first choice first. */
  readonly targets: readonly Target[];
  readonly cache?: RuleOf<'cache'>;
}

export function act(acting: Acting, visit: Visit, seen: Seen): { answer: Answer } | { forward: Forward } {
  const drop = firstRule(visit, 'drop');
  if (drop !== undefined) {
    Object.assign(seen, { rule: drop.id, reason: 'rule_blocked' });
    return { answer: plainAnswer(403, 'Forbidden') };
  }
  const { path, query, place } = visit;
  const cache = firstRule(visit, 'cache');
  const turn = place.origins.length === 0 ? 0 : acting.nextTurn(place.host) % place.origins.length;
  const targets = [...place.origins.slice(turn), ...place.origins.slice(0, turn)].map(targetOf);
  return { forward: { path: query === '' ? path : `${path}?${query}`, targets, ...(cache && { cache }) } };
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

/** By its paths, exact or with wildcards. */
function matchesRule({ path }: EdgeRule, { plainPath }: Visit): boolean {
  const matches = (pattern: string) => {
    const parts = pattern.split('*').map((part) => part.replaceAll(/[^\w/]/g, '\\$&'));
    return new RegExp(`^${parts.join('.*')}$`).test(plainPath);
  };
  return path.includes.some(matches) && !path.excludes.some(matches);
}
