// The routes of edges that belong to the core.

import type { Route } from '../../calls/route.ts';
import { getCertificate } from './certificates.ts';
import { followConfig } from './config.ts';
import { reportHealth } from './health.ts';
import { reportRequests } from './requests.ts';

export const CORE_EDGE_ROUTES: readonly Route[] = [
  followConfig,
  reportHealth,
  getCertificate,
  reportRequests,
];
