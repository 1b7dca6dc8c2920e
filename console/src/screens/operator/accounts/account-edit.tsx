// A form for all editable fields of an account.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { useDraft } from '../../../app/drafts.ts';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { CheckField, TextField } from '../../../parts/field.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { PlanField } from '../plan-field.tsx';
import { type AccountForm, changeOf, formOf } from './account-change.ts';

type Account = components['schemas']['AdminAccount'];
const NOTHING: Partial<AccountForm> = {};
const SHOWN = ['email', 'name', 'plan', 'provider'];

interface AccountEditProps {
  readonly account: Account;
  readonly onSaved: (account: Account) => void;
}

export function AccountEdit({ account, onSaved }: AccountEditProps) {
  const say = operator.accounts;
  const [edited, setEdited, drop] = useDraft(`operator account ${account.id}`, NOTHING);
  const form = { ...formOf(account), ...edited };
  const change = changeOf(account, edited);
  const changes = Object.keys(change).length;
  const [isAsked, setAsked] = useState(false);
  const warnings = [
    change.active === false && say.askActive,
    change.admin === true && say.askAdmin,
    change.admin === false && say.askNoAdmin,
  ].filter((each) => each !== false);
  const save = useAction(async () => {
    const params = { path: { id: account.id } };
    onSaved(await dataOf(admin.PATCH('/admin/accounts/{id}', { params, body: change })));
    drop();
    setAsked(false);
    toast(say.saved);
  });
  const text = (field: 'email' | 'name' | 'provider') => ({
    label: say.fields[field],
    autocomplete: 'off',
    value: form[field],
    problem: save.error?.of(field),
    onInput: (event: { currentTarget: HTMLInputElement }) =>
      setEdited({ ...edited, [field]: event.currentTarget.value }),
  });
  const check = (field: 'admin' | 'reseller' | 'active') => ({
    label: say.fields[field],
    checked: form[field],
    onChange: (event: { currentTarget: HTMLInputElement }) =>
      setEdited({ ...edited, [field]: event.currentTarget.checked }),
  });
  return (
    <section class="card ope-narrow">
      <h2>{say.edit}</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          if (warnings.length > 0) setAsked(true);
          else if (changes > 0) void save.run();
        }}
      >
        <TextField {...text('email')} type="email" required hint={say.hints.email} />
        <TextField {...text('name')} />
        <PlanField
          label={say.fields.plan}
          hint={say.hints.plan}
          value={form.plan}
          problem={save.error?.of('plan')}
          onChoose={(plan) => setEdited({ ...edited, plan })}
        />
        <TextField {...text('provider')} inputMode="numeric" pattern="[0-9]*" hint={say.hints.provider} />
        <CheckField {...check('active')} hint={say.hints.active} />
        <CheckField {...check('admin')} hint={say.hints.admin} />
        <CheckField {...check('reseller')} />
        <Failure error={save.error} shownFields={SHOWN} />
        <div class="row">
          <Button type="submit" kind="main" isBusy={save.isBusy} disabled={changes === 0}>
            {words.common.save}
          </Button>
          {changes > 0 && <Button onClick={drop}>{say.drop}</Button>}
          {changes > 0 && <span class="quiet">{say.unsaved(changes)}</span>}
        </div>
      </form>
      {isAsked && (
        <Confirm
          title={say.ask(account.email)}
          action={words.common.save}
          isDanger
          isBusy={save.isBusy}
          error={save.error}
          onConfirm={() => void save.run()}
          onClose={() => setAsked(false)}
        >
          {warnings.map((warning) => (
            <p key={warning}>{warning}</p>
          ))}
        </Confirm>
      )}
    </section>
  );
}
