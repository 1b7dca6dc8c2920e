// Opens the identity provider that the settings name.

import { ServiceKey, type Services } from '../../api/calls/call.ts';
import { StartFault } from '../../process/start-fault.ts';
import type { ServiceTools } from '../feature.ts';
import type { Provider } from './client.ts';
import type { EmailRules } from './rules.ts';

interface OidcService {
  readonly provider: Provider;
  /** Name of the provider on the sign-in page. */
  readonly name: string;
  readonly rules: EmailRules;
  /** True if a session can be confirmed with the provider instead of the password. */
  readonly confirms: boolean;
}

/** Missing if people sign in with passwords only. */
export const OIDC = new ServiceKey<OidcService>('identity provider');

/** Page of the console to which the provider sends people back. */
const RETURN_PATH = '/console/oidc';

export async function openOidc({ settings }: ServiceTools, services: Services): Promise<void> {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcClientSecret: clientSecret } = settings;
  if (issuer === undefined) return;
  if (clientId === undefined || clientSecret === undefined)
    throw new StartFault(
      'OIDC_CLIENT_ID and OIDC_CLIENT_SECRET: expected to be set, because OIDC_ISSUER is set',
    );
  if (!settings.console)
    throw new StartFault('CONSOLE: expected "on", because people return to the console from OIDC_ISSUER');
  const { Provider } = await import('./client.ts'); // the library is loaded only if it is needed
  const { oidcScopes: scopes, oidcOperators: operators, oidcName: name } = settings;
  services.add(OIDC, {
    provider: new Provider({
      issuer,
      clientId,
      clientSecret,
      scopes,
      operators,
      redirectUri: settings.publicUrl + RETURN_PATH,
      afterSignOut: `${settings.publicUrl}/console/`,
    }),
    name,
    rules: { link: settings.oidcLink ?? [], create: settings.oidcCreate ?? [] },
    confirms: settings.oidcConfirm,
  });
}
