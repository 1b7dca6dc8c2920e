// All features, in the order in which their tables are created.

import { JOB_KINDS, type JobKind } from '../jobs/jobs.ts';
import type { Retention } from '../store/housekeeping/retention.ts';
import type { Privileges } from '../store/roles/role-privileges.ts';
import { analytics } from './analytics/feature.ts';
import { aname } from './aname/feature.ts';
import { cache } from './cache/feature.ts';
import { catalogs } from './catalogs/feature.ts';
import { certificates } from './certificates/feature.ts';
import { dyndns } from './dyndns/feature.ts';
import { externalDns } from './external-dns/feature.ts';
import type { Feature, WriteLetter } from './feature.ts';
import { httpreq } from './httpreq/feature.ts';
import { money } from './money/feature.ts';
import { oidc } from './oidc/feature.ts';
import { pdns } from './pdns/feature.ts';
import { recommendations } from './recommendations/feature.ts';
import { resellers } from './resellers/feature.ts';
import { secondaries } from './secondaries/feature.ts';
import { tickets } from './tickets/feature.ts';
import { transfers } from './transfers/feature.ts';
import { updates } from './updates/feature.ts';
import { uptime } from './uptime/feature.ts';
import { webhooks } from './webhooks/feature.ts';

export const FEATURES: readonly Feature[] = [
  aname,
  certificates,
  analytics,
  webhooks,
  uptime,
  recommendations,
  cache,
  money,
  resellers,
  tickets,
  transfers,
  secondaries,
  catalogs,
  updates,
  externalDns,
  pdns,
  httpreq,
  dyndns,
  oidc,
];

/** Every kind of job, those of the core first. */
export const EVERY_KIND: readonly JobKind<never>[] = [
  ...JOB_KINDS,
  ...FEATURES.flatMap(({ queues = [] }) => queues),
];
/** The names of all queues. */
export const QUEUES: readonly string[] = EVERY_KIND.map(({ queue }) => queue);

export const PRIVILEGES_OF_FEATURES: readonly Privileges[] = FEATURES.map(({ privileges }) => privileges);

export const RETENTION_OF_FEATURES: Retention = Object.assign(
  {},
  ...FEATURES.map(({ retention }) => retention),
);

export const LETTERS: Readonly<Record<string, WriteLetter>> = Object.assign(
  {},
  ...FEATURES.map(({ letters }) => letters),
);

/** Descriptions of the tags of features in the API descriptions. */
export const TAGS: Pick<Feature, 'tags' | 'adminTags'> = {
  tags: Object.assign({}, ...FEATURES.map(({ tags }) => tags)),
  adminTags: Object.assign({}, ...FEATURES.map(({ adminTags }) => adminTags)),
};
