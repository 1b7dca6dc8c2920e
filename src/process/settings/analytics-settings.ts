// Settings of the analytics store (docs/operating/edges.md "Analytics").

import { NONE, setting } from './setting.ts';
import { oneOf, onOrOff, shape } from './shapes.ts';

const storeUrl = shape('a URL like https://user:password@host:8443/database', (text) => {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '') return undefined;
  return /^\/\w+$/.test(url.pathname) ? url.href : undefined;
});

export const ANALYTICS_SETTINGS = {
  /** If true, `npm start` runs its own store when `analyticsUrl` is undefined. */
  analytics: setting({
    name: 'ANALYTICS',
    readers: ['npm start'],
    schema: onOrOff,
    byDefault: 'on',
    is: '`off`: `npm start` neither installs nor runs an analytics store',
  }),
  /** Undefined if there is no store. */
  analyticsUrl: setting({
    name: 'ANALYTICS_URL',
    readers: ['API', 'workers', 'npm start', 'CLI'],
    schema: storeUrl,
    byDefault: NONE,
    is: '`https://user:password@host:8443/database`, a ClickHouse 25.8 or newer, which stores the analytics',
    isSecret: true,
  }),
  /** Determines if raw lines contain the client's whole address or only its /24 or /48. */
  analyticsClients: setting({
    name: 'ANALYTICS_CLIENTS',
    readers: ['API'],
    schema: oneOf(['prefix', 'full'], 'prefix or full'),
    byDefault: 'prefix',
    is: '`prefix`: raw lines of requests contain the /24 or /48 of the client; `full`: the whole address',
  }),
};
