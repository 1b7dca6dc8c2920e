// Creates an access link for the owner of an account. It is shown once and not stored here.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { Button, Copyable } from '../../../parts/button.tsx';
import { Failure, Note } from '../../../parts/failure.tsx';
import { operator } from '../../../words/operator.ts';

const KINDS = ['sign-in', 'reset'] as const;

export function AccountLinks({ id, email }: { readonly id: number; readonly email: string }) {
  const say = operator.accounts;
  const [made, setMade] = useState<components['schemas']['AccountLink']>();
  const make = useAction(async (kind: (typeof KINDS)[number]) => {
    setMade(undefined);
    const params = { path: { id } };
    setMade(await dataOf(admin.POST('/admin/accounts/{id}/links', { params, body: { kind } })));
  });
  return (
    <section class="card stack">
      <h2>{say.links}</h2>
      <p>{say.linksText}</p>
      {made?.link !== undefined && (
        <Note tone="good">
          <Copyable text={made.link} label={`${say.links}, ${email}`} />
          <p>{say.linkMade(made.expires_in_minutes)}</p>
          <Button onClick={() => setMade(undefined)}>{say.linkGone}</Button>
        </Note>
      )}
      <Failure error={make.error} />
      {KINDS.map((kind) => (
        <div key={kind}>
          <Button disabled={make.isBusy} onClick={() => void make.run(kind)}>
            {say.link[kind]}
          </Button>{' '}
          <span class="quiet">{say.linkHints[kind]}</span>
        </div>
      ))}
    </section>
  );
}
