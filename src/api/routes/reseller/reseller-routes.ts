// The routes that only resellers have and that belong to the core.

import { forResellers } from '../../calls/reseller-surface.ts';
import type { Route } from '../../calls/route.ts';
import { whoAmI } from '../people/whoami.ts';
import { getClientsDnsAnalytics } from './dns-counts.ts';

export const CORE_RESELLER_ROUTES: readonly Route[] = [
  { ...forResellers(whoAmI), tag: 'Reseller' },
  getClientsDnsAnalytics,
];
