// The routes of global admins.

import { ADMIN_ACCOUNT_ROUTES } from './accounts.ts';
import { BREAKER_ROUTES } from './breaker.ts';
import { createDomains } from './domain-batch.ts';
import { ADMIN_DOMAIN_ROUTES } from './domains.ts';
import { FLEET_ROUTES } from './fleet.ts';
import { ADMIN_PLAN_ROUTES } from './plans.ts';

export const ADMIN_ROUTES = [
  ...ADMIN_ACCOUNT_ROUTES,
  ...ADMIN_DOMAIN_ROUTES,
  createDomains,
  ...ADMIN_PLAN_ROUTES,
  ...FLEET_ROUTES,
  ...BREAKER_ROUTES,
];
