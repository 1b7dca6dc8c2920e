// The rules of a domain by type, in the order in which they are applied.

import './rules.css';
import { useState } from 'preact/hooks';
import { api, dataOf, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Failure } from '../../parts/failure.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Badge } from '../../parts/status.tsx';
import { rules as text } from '../../words/rules.ts';
import { words } from '../../words/words.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { RuleDialog } from './rule-dialog.tsx';
import { TYPES, typeOf } from './rule-fields.ts';
import { jsonOf, movedPlaces } from './rule-form.ts';

type Rule = Schemas['Rule'];

export default function RulesScreen() {
  const { name, domain } = useDomain();
  const { query, setQuery } = usePlace();
  const type = typeOf(query.type);
  const path = { domain: name, type };
  const [edited, setEdited] = useState<Rule | 'new'>();
  const [gone, setGone] = useState<Rule>();
  const mayEdit = mayDo(domain, 'rules.edit');
  const loaded = useLoad<Rule[]>(`rules ${name} ${type}`, (signal) =>
    dataOf(api.GET('/domains/{domain}/rules/{type}/', { params: { path }, signal })),
  );
  const { reload } = loaded;
  const toggle = useAction(async (id: number) => {
    await api.PATCH('/domains/{domain}/rules/{type}/{id}/toggle', { params: { path: { ...path, id } } });
    await reload();
  });
  const move = useAction(async (id: number, by: -1 | 1) => {
    const places = movedPlaces(loaded.data ?? [], id, by);
    if (places === undefined) return;
    await api.PATCH('/domains/{domain}/rules/{type}/reorder', { params: { path }, body: [...places] });
    await reload();
  });
  const remove = useAction(async (id: number) => {
    await api.DELETE('/domains/{domain}/rules/{type}/{id}', { params: { path: { ...path, id } } });
    setGone(undefined);
    toast(text.deleted(id));
    await reload();
  });
  const edit = async (rule: Rule) => {
    // Lists omit large members.
    const whole = await dataOf(
      api.GET('/domains/{domain}/rules/{type}/{id}', { params: { path: { ...path, id: rule.id } } }),
    );
    setEdited(whole);
  };
  const open = useAction(edit);
  const isBusy = toggle.isBusy || move.isBusy;
  return (
    <div class="stack rules">
      <div class="rules-head">
        <SelectField
          label={text.type}
          hint={text.about[type]}
          choices={TYPES.map((value) => ({ value, label: text.types[value] }))}
          value={type}
          onChange={(event) => setQuery({ type: event.currentTarget.value })}
        />
        {mayEdit && (
          <Button kind="main" onClick={() => setEdited('new')}>
            {text.add}
          </Button>
        )}
      </div>
      <Failure error={toggle.error ?? move.error ?? open.error} />
      <Loading of={loaded}>
        {(rules) =>
          rules.length === 0 ? (
            <Empty title={text.none}>
              <p>{text.noneText}</p>
            </Empty>
          ) : (
            <ol class="plain rules-list" aria-label={text.list(text.types[type])}>
              {rules.map((rule, i) => (
                <li key={rule.id} class="card">
                  <div class="row spread">
                    <div class="row">
                      <strong>{text.rule(rule.id)}</strong>
                      <Badge tone={rule.enabled ? 'good' : ''}>{rule.enabled ? text.on : text.off}</Badge>
                      {rule.action_mode === 'dry_run' && <Badge tone="warn">{text.dryRun}</Badge>}
                    </div>
                    {mayEdit && (
                      <div class="row">
                        <Button
                          kind="bare"
                          disabled={isBusy || i === 0}
                          aria-label={text.upOf(rule.id)}
                          onClick={() => void move.run(rule.id, -1)}
                        >
                          ↑
                        </Button>
                        <Button
                          kind="bare"
                          disabled={isBusy || i === rules.length - 1}
                          aria-label={text.downOf(rule.id)}
                          onClick={() => void move.run(rule.id, 1)}
                        >
                          ↓
                        </Button>
                        <Button
                          disabled={isBusy}
                          aria-label={text.toggleOf(rule.id, rule.enabled)}
                          onClick={() => void toggle.run(rule.id)}
                        >
                          {rule.enabled ? text.switchOff : text.switchOn}
                        </Button>
                        <Button aria-label={text.editOf(rule.id)} onClick={() => void open.run(rule)}>
                          {text.edit}
                        </Button>
                        <Button
                          kind="danger"
                          aria-label={text.deleteOf(rule.id)}
                          onClick={() => setGone(rule)}
                        >
                          {words.common.delete}
                        </Button>
                      </div>
                    )}
                  </div>
                  <p>{text.says(rule, rule.type === 'redirect' ? rule.target : undefined)}</p>
                  {rule.disabled_reason !== undefined && <p class="problem">{rule.disabled_reason}</p>}
                  {rule.unsupported?.map(({ why, edges }) => (
                    <p key={why} class="problem">
                      {text.unsupported(edges, why)}
                    </p>
                  ))}
                  <details>
                    <summary>{text.all}</summary>
                    <pre>{jsonOf(rule)}</pre>
                  </details>
                </li>
              ))}
            </ol>
          )
        }
      </Loading>
      {edited !== undefined && (
        <RuleDialog
          type={type}
          rule={edited === 'new' ? undefined : edited}
          onDone={() => {
            setEdited(undefined);
            toast(text.saved);
            void reload();
          }}
          onClose={() => setEdited(undefined)}
        />
      )}
      {gone !== undefined && (
        <Confirm
          title={text.deleteTitle(gone.id)}
          action={words.common.delete}
          isDanger
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run(gone.id)}
          onClose={() => setGone(undefined)}
        >
          <p>{text.deleteText}</p>
        </Confirm>
      )}
    </div>
  );
}
