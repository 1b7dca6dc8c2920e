// Adds a domain, then shows what to do at the registrar.

import { api, dataOf, idempotent } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useDraft } from '../../app/drafts.ts';
import { domainPath, usePlace } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure } from '../../parts/failure.tsx';
import { CheckField, TextField } from '../../parts/field.tsx';
import { domains } from '../../words/domains.ts';
import { words } from '../../words/words.ts';
import { nameIn } from './pasted-names.ts';

interface Wish {
  readonly name: string;
  readonly mode: 'managed' | 'external';
  readonly scan: boolean;
}

const NOTHING: Wish = { name: '', mode: 'managed', scan: true };

export function AddDomain({ onClose }: { readonly onClose: () => void }) {
  const { go } = usePlace();
  const [wish, setWish, dropWish] = useDraft<Wish>('add-domain', NOTHING);
  const add = useAction(async (transfer: boolean) => {
    const isManaged = wish.mode === 'managed';
    const { name } = await dataOf(
      api.POST('/domains/', {
        params: idempotent(),
        body: {
          name: nameIn(wish.name),
          dns_mode: wish.mode,
          scan: isManaged && wish.scan,
          transfer,
        },
      }),
    );
    dropWish();
    go(domainPath(name, 'delegation'));
  });
  const text = domains.add;
  const isTaken = add.error?.code === 'domain_taken';
  return (
    <Dialog title={text.open} onClose={onClose}>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void add.run(false);
        }}
      >
        <TextField
          label={text.name}
          hint={text.nameHint}
          placeholder="shop.example"
          autocomplete="off"
          autocapitalize="none"
          spellcheck={false}
          required
          value={wish.name}
          problem={add.error?.of('name')}
          onInput={(event) => setWish({ ...wish, name: event.currentTarget.value })}
        />
        <fieldset class="domains-modes">
          <legend>{text.mode}</legend>
          {(['managed', 'external'] as const).map((mode) => (
            <label key={mode}>
              <input
                type="radio"
                name="mode"
                checked={wish.mode === mode}
                onChange={() => setWish({ ...wish, mode })}
              />
              <span>
                <strong>{text.modes[mode]}</strong>
                <span class="quiet">{text.modeHints[mode]}</span>
              </span>
            </label>
          ))}
        </fieldset>
        {wish.mode === 'managed' && (
          <CheckField
            label={text.scan}
            hint={text.scanHint}
            checked={wish.scan}
            onChange={(event) => setWish({ ...wish, scan: event.currentTarget.checked })}
          />
        )}
        <Failure error={add.error} shownFields={['name']} />
        {isTaken && add.error?.retryAfter === undefined && (
          <div class="note">
            <p>{text.taken}</p>
            <Button isBusy={add.isBusy} onClick={() => void add.run(true)}>
              {text.transfer}
            </Button>
          </div>
        )}
        <div class="row">
          <Button type="submit" kind="main" isBusy={add.isBusy}>
            {text.open}
          </Button>
          <Button onClick={onClose}>{words.common.cancel}</Button>
        </div>
      </form>
    </Dialog>
  );
}
