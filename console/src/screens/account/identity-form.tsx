// The identity with which the person signs in at the identity provider.

import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { BASE } from '../../app/base.ts';
import { goToProvider } from '../../app/identity.ts';
import { loadSession } from '../../app/session.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Failure } from '../../parts/failure.tsx';
import { account } from '../../words/account.ts';

const text = account.identity;

export function IdentityForm() {
  const offer = useLoad('oidc', (signal) => dataOf(api.GET('/auth/oidc', { signal }))).data;
  const loaded = useLoad('identities', (signal) => dataOf(api.GET('/users/me/identities', { signal })));
  const link = useAction(() => goToProvider('link', `${BASE}/account`));
  const remove = useAction(async (id: number) => {
    await api.DELETE('/users/me/identities/{id}', { params: { path: { id } } });
    toast(text.removed);
    await Promise.all([loaded.reload(), loadSession()]);
  });
  const identities = loaded.data ?? [];
  if (offer?.name === undefined && identities.length === 0) return null;
  return (
    <section class="card stack" aria-labelledby="account-identity">
      <h2 id="account-identity">{text.title}</h2>
      {identities.map(({ id, issuer, email }) => (
        <div key={id} class="row spread">
          <span>{text.linked(email ?? issuer, issuer)}</span>
          <Button kind="danger" isBusy={remove.isBusy} onClick={() => void remove.run(id)}>
            {text.remove}
          </Button>
        </div>
      ))}
      {identities.length === 0 && offer?.name !== undefined && (
        <>
          <p>{text.what(offer.name)}</p>
          <Button isBusy={link.isBusy} onClick={() => void link.run()}>
            {text.link(offer.name)}
          </Button>
        </>
      )}
      <Failure error={loaded.error ?? link.error ?? remove.error} />
    </section>
  );
}
