// Every route of the API: those of the core, then those of each feature.

import type { Route } from '../api/calls/route.ts';
import { forResellers } from '../api/calls/surfaces.ts';
import { CORE_ROUTES } from '../api/routes/core-routes.ts';
import { CORE_EDGE_ROUTES } from '../api/routes/edge.ts';
import { CORE_RESELLER_ROUTES } from '../api/routes/people/profile.ts';
import { FEATURES } from './every-feature.ts';
import type { Feature } from './feature.ts';

async function ofFeatures(
  surface: 'routes' | 'edgeRoutes' | 'resellerRoutes' | 'compatRoutes',
): Promise<Route[]> {
  const routes = await Promise.all(
    FEATURES.map(async (feature: Feature) => (await feature[surface]?.()) ?? []),
  );
  return routes.flat();
}

export const ROUTES: readonly Route[] = [...CORE_ROUTES, ...(await ofFeatures('routes'))];

/** Routes of other systems' APIs. */
export const COMPAT_ROUTES: readonly Route[] = await ofFeatures('compatRoutes');

/** Routes that edges call. */
export const EDGE_ROUTES: readonly Route[] = [...CORE_EDGE_ROUTES, ...(await ofFeatures('edgeRoutes'))];

const isMountedForResellers = (route: Route) =>
  route.access.kind === 'domain' && route.forResellers !== false;

/** Routes that resellers call: their own, and each route about one domain, for a client's domain. */
export const RESELLER_ROUTES: readonly Route[] = [
  ...CORE_RESELLER_ROUTES,
  ...(await ofFeatures('resellerRoutes')),
  ...ROUTES.filter(isMountedForResellers).map(forResellers),
];
