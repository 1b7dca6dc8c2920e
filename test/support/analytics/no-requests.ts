// An empty analytics store, for tests of authorization.

import type { Analytics } from '../../../src/analytics/open-analytics.ts';

export const NO_REQUESTS: Analytics = {
  query: async () => [],
  insert: async () => {},
  close: async () => {},
};
