// How much one call may send: by its route, and on routes for many records by the domain's plan as well.

import { type Problem, problem } from '../problem.ts';
import type { Route } from '../route.ts';
import type { JsonBounds } from './scan-json.ts';

const MIB = 1024 * 1024;
export const SMALL_BODY_OCTETS = MIB;
export const LARGE_BODY_OCTETS = 32 * MIB;
const SMALL_BODY_VALUES = 20_000;
/** From here on a body is worked on in a thread of its own: what is smaller is done in some milliseconds. */
export const THREAD_BODY_OCTETS = 128 * 1024;

/** A record has at most fourteen members, and is a value itself. */
const VALUES_AN_ITEM = 16;
const VALUES_AROUND = 1000;

const MIN_PLAN_OCTETS = 4 * MIB;
const MIN_PLAN_ITEMS = 1000;
const OCTETS_A_RECORD = 16 * 1024;
/** A zone may be replaced as a whole, and some of its records may be wrong. */
const ITEMS_A_RECORD = 10;

export interface BodyBounds extends JsonBounds {
  readonly octets: number;
  /** Items of one call; undefined where there are none. */
  readonly items: number | undefined;
  /** That the plan allows less than the route: it is to blame where they are passed. */
  readonly byPlan: boolean;
}

type Bounded = Pick<Route, 'largeBody' | 'maxItems'>;
/** Of the domain; null: it has none. */
type PlanOfDomain = { readonly maxRecords: number | null } | null;

export function bodyBounds({ largeBody, maxItems }: Bounded, plan: PlanOfDomain): BodyBounds {
  if (largeBody !== true) {
    return { octets: SMALL_BODY_OCTETS, values: SMALL_BODY_VALUES, items: undefined, byPlan: false };
  }
  const records = plan === null ? 0 : (plan.maxRecords ?? Number.POSITIVE_INFINITY);
  const octets = Math.min(LARGE_BODY_OCTETS, Math.max(MIN_PLAN_OCTETS, records * OCTETS_A_RECORD));
  const items =
    maxItems === undefined
      ? undefined
      : Math.min(maxItems, Math.max(MIN_PLAN_ITEMS, records * ITEMS_A_RECORD));
  return {
    octets,
    items,
    values: VALUES_AROUND + VALUES_AN_ITEM * (maxItems ?? 0),
    byPlan: octets < LARGE_BODY_OCTETS,
  };
}

/** More items than the plan allows in one call. */
export function judgeItems(count: number, route: Bounded, plan: PlanOfDomain): Problem | undefined {
  const { items } = bodyBounds(route, plan);
  if (items === undefined || count <= items) return undefined;
  return problem('plan_limit', `the plan allows ${items} items in one call, these are ${count}`, {
    limit: items,
  });
}
