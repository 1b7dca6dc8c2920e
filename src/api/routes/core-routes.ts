// The routes of the core, without those of features.

import type { Route } from '../calls/route.ts';
import { ADMIN_ROUTES } from './admin/admin-routes.ts';
import { AUDIT_ROUTES } from './audit.ts';
import { CHANGE_ROUTES } from './changes.ts';
import { CHECK_ROUTES } from './checks.ts';
import { DNSSEC_ROUTES } from './dnssec.ts';
import { DNSSEC_KEY_ROUTES } from './dnssec-keys.ts';
import { DOMAIN_ROUTES } from './domain.ts';
import { createDomains } from './domain-batch.ts';
import { DOMAINS_ROUTES } from './domains.ts';
import { followDomain } from './events.ts';
import { PEOPLE_ROUTES } from './people/people-routes.ts';
import { PUBLIC_CHECK_ROUTES } from './public-checks.ts';
import { RECORD_ROUTES } from './records.ts';
import { RULE_ROUTES } from './rules/rules.ts';
import { SCAN_ROUTES } from './scans.ts';
import { INVITE_ROUTES } from './sharing/invites.ts';
import { MEMBER_ROUTES } from './sharing/members.ts';
import { SUBSCRIPTION_ROUTES } from './subscriptions.ts';
import { VANTAGE_ROUTES } from './vantage.ts';
import { VERIFICATION_ROUTES } from './verify.ts';

export const CORE_ROUTES: readonly Route[] = [
  ...DOMAINS_ROUTES,
  createDomains,
  ...DOMAIN_ROUTES,
  ...VERIFICATION_ROUTES,
  ...CHECK_ROUTES,
  ...DNSSEC_ROUTES,
  ...DNSSEC_KEY_ROUTES,
  ...CHANGE_ROUTES,
  followDomain,
  ...RECORD_ROUTES,
  ...SCAN_ROUTES,
  ...RULE_ROUTES,
  ...MEMBER_ROUTES,
  ...INVITE_ROUTES,
  ...SUBSCRIPTION_ROUTES,
  ...VANTAGE_ROUTES,
  ...PUBLIC_CHECK_ROUTES,
  ...PEOPLE_ROUTES,
  ...AUDIT_ROUTES,
  ...ADMIN_ROUTES,
];
