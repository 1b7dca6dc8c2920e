// The button that signs in with the identity provider, if the service has one.

import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { goToProvider } from '../../app/identity.ts';
import { session } from '../../app/session.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { words } from '../../words/words.ts';
import { openedLink } from './link.ts';

export function IdentitySignIn() {
  const offer = useLoad('oidc', (signal) => dataOf(api.GET('/auth/oidc', { signal }))).data;
  const begin = useAction(() => goToProvider('sign-in', hereWithLink()));
  if (offer?.name === undefined) return null;
  const { value } = session;
  const hasLeft = value.kind === 'signed-out' && value.hasIdentity === true;
  return (
    <div class="stack">
      <Failure error={begin.error} />
      <Button isBusy={begin.isBusy} onClick={() => void begin.run()}>
        {words.signIn.identity(offer.name)}
      </Button>
      {hasLeft && offer.sign_out_url !== undefined && (
        <a href={offer.sign_out_url}>{words.signIn.identitySignOut(offer.name)}</a>
      )}
    </div>
  );
}

/** The current page, with the opened link: an invite is accepted after the sign-in. */
function hereWithLink(): string {
  const link = openedLink();
  const hash = link?.kind === 'invite' || link?.kind === 'email' ? `#${link.kind}=${link.token}` : '';
  return location.pathname + location.search + hash;
}
