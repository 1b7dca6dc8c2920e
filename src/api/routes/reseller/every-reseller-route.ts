// Every route of the surface of resellers: what they do for clients, and each call of customers that is about one domain, for a
// client's domain. A call that charges the wallet of a domain's owner is left out: services are bought instead.

import { forResellers } from '../../calls/reseller-surface.ts';
import type { Route } from '../../calls/route.ts';
import { ROUTES } from '../every-route.ts';
import { purchaseSubscription, switchSubscription } from '../money/buying.ts';
import { whoAmI } from '../people/whoami.ts';
import { CLIENT_ROUTES } from './clients.ts';
import { getClientsDnsAnalytics } from './dns-counts.ts';
import { SERVICE_ROUTES } from './services.ts';
import { TOKEN_ROUTES } from './tokens.ts';
import { TRANSFER_ROUTES } from './transfers.ts';

const LEFT_OUT: readonly Route[] = [purchaseSubscription, switchSubscription];

const isMounted = (route: Route) => route.access.kind === 'domain' && !LEFT_OUT.includes(route);

export const RESELLER_ROUTES: readonly Route[] = [
  { ...forResellers(whoAmI), tag: 'Reseller' },
  ...TOKEN_ROUTES,
  ...CLIENT_ROUTES,
  ...TRANSFER_ROUTES,
  ...SERVICE_ROUTES,
  getClientsDnsAnalytics,
  ...ROUTES.filter(isMounted).map(forResellers),
];
