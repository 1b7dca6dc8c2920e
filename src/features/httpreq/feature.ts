// Certificate clients of the lego family write the TXT records of DNS challenges with lego's provider `httpreq`
// (docs/tools/lego.md).

import type { Feature } from '../feature.ts';

export const httpreq: Feature = {
  name: 'httpreq',
  privileges: { tables: {} },
  compatRoutes: async () => (await import('./routes.ts')).HTTPREQ_ROUTES,
};
