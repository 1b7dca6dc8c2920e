// All routes of edge nodes.

import type { Route } from '../../calls/route.ts';
import { reportCache } from './cache.ts';
import { getCertificate } from './certificates.ts';
import { followConfig } from './config.ts';
import { reportHealth } from './health.ts';
import { followPurges, reportEdgePurge } from './purges.ts';
import { reportRequests } from './requests.ts';

export const EDGE_ROUTES: readonly Route[] = [
  followConfig,
  reportHealth,
  getCertificate,
  followPurges,
  reportEdgePurge,
  reportCache,
  reportRequests,
];
