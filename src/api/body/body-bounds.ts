// Limits of the body of one call: those of its route and, for routes that write many records, those of the domain's
// plan.

import { type Problem, problem } from '../answers/problem.ts';
import type { Route } from '../calls/route.ts';
import type { JsonBounds } from './scan-json.ts';

const MIB = 1024 * 1024;
export const SMALL_BODY_BYTES = MIB;
const LARGE_BODY_BYTES = 32 * MIB;
const SMALL_BODY_VALUES = 20_000;
/** Limits of calls that anyone may make. */
const PUBLIC_BODY_BYTES = 16 * 1024;
const PUBLIC_BODY_VALUES = 100;
/** Bodies of at least this size are handled in a separate thread. A smaller body takes a few milliseconds. */
export const THREAD_BODY_BYTES = 128 * 1024;

/** JSON values per item: a record has at most fourteen members, and is a value itself. */
const VALUES_PER_ITEM = 16;
const VALUES_AROUND = 1000;

const MIN_PLAN_BYTES = 4 * MIB;
const MIN_PLAN_ITEMS = 1000;
const BYTES_PER_RECORD = 16 * 1024;
/** Items per record of the plan: a call may replace the whole zone, and some of its records may be wrong. */
const ITEMS_PER_RECORD = 10;

export interface BodyBounds extends JsonBounds {
  readonly bytes: number;
  /** Maximum number of items in one call. Undefined if there is no limit. */
  readonly items: number | undefined;
  /** True if the plan allows less than the route does, so that a problem must mention the plan. */
  readonly byPlan: boolean;
}

type Bounded = Pick<Route, 'largeBody' | 'maxItems' | 'bodyBytes'> & { readonly access?: Route['access'] };
/** The plan of the domain, or null if it has none. */
type PlanOfDomain = { readonly maxRecords: number | null } | null;

export function bodyBounds(route: Bounded, plan: PlanOfDomain): BodyBounds {
  const { largeBody, maxItems, bodyBytes, access } = route;
  if (access?.kind === 'public') {
    return { bytes: PUBLIC_BODY_BYTES, values: PUBLIC_BODY_VALUES, items: undefined, byPlan: false };
  }
  if (largeBody !== true) {
    return {
      bytes: bodyBytes ?? SMALL_BODY_BYTES,
      values: SMALL_BODY_VALUES,
      items: undefined,
      byPlan: false,
    };
  }
  const records = plan === null ? 0 : (plan.maxRecords ?? Number.POSITIVE_INFINITY);
  const bytes = Math.min(LARGE_BODY_BYTES, Math.max(MIN_PLAN_BYTES, records * BYTES_PER_RECORD));
  const items =
    maxItems === undefined
      ? undefined
      : Math.min(maxItems, Math.max(MIN_PLAN_ITEMS, records * ITEMS_PER_RECORD));
  return {
    bytes,
    items,
    values: VALUES_AROUND + VALUES_PER_ITEM * (maxItems ?? 0),
    byPlan: bytes < LARGE_BODY_BYTES,
  };
}

/** Refuses more items than the plan allows in one call. */
export function judgeItems(count: number, route: Bounded, plan: PlanOfDomain): Problem | undefined {
  const { items } = bodyBounds(route, plan);
  if (items === undefined || count <= items) return undefined;
  return problem('plan_limit', `the plan allows ${items} items in one call, but this call has ${count}`, {
    limit: items,
  });
}
