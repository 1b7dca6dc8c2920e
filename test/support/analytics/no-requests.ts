// An analytics store that has counted nothing, for tests of who may ask.

import type { Analytics } from '../../../src/analytics/open-analytics.ts';

export const NO_REQUESTS: Analytics = {
  query: async () => [],
  insert: async () => {},
  close: async () => {},
};
