// Sign-in with an identity provider, OpenID Connect (docs/operating/sign-in-oidc.md). The tables belong to the core,
// because profiles show if an identity is linked.

import type { Feature } from '../feature.ts';

export const oidc: Feature = {
  name: 'oidc',
  privileges: { tables: {} },
  services: async () => (await import('./services.ts')).openOidc,
  routes: async () => [
    ...(await import('./routes.ts')).OIDC_ROUTES,
    ...(await import('./routes-identities.ts')).IDENTITY_ROUTES,
  ],
  commands: {
    listed: { identity: 'list, link and remove the identities with which people sign in' },
    load: async () => (await import('./cli.ts')).addIdentityCommands,
  },
};
