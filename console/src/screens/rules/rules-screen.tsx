// The rules of a domain: all types on one page, in the order in which edges apply them, and a test of a URL.

import './rules.css';
import { useEffect, useState } from 'preact/hooks';
import { api, dataOf } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { domainPath, Link, usePlace } from '../../app/place.tsx';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Empty, Failure, Note } from '../../parts/failure.tsx';
import { Loading } from '../../parts/loading.tsx';
import { rules as text } from '../../words/rules.ts';
import { words } from '../../words/words.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { ChooseType } from './choose-type.tsx';
import { type DomainRules, useRules } from './load-rules.ts';
import type { Rule } from './match-rule.ts';
import { Phase } from './phase.tsx';
import { RuleDialog } from './rule-dialog.tsx';
import { type RuleType, TYPES, typeOf } from './rule-fields.ts';
import { movedPlaces } from './rule-form.ts';
import { Tester } from './tester.tsx';

type Shown =
  | { readonly kind: 'types' }
  | { readonly kind: 'new'; readonly type: RuleType }
  | { readonly kind: 'edit'; readonly rule: Rule }
  | { readonly kind: 'delete'; readonly rule: Rule };

export default function RulesScreen() {
  const { name } = useDomain();
  const loaded = useRules(name);
  return (
    <div class="stack rules">
      <Loading of={loaded}>{(data) => <Rules data={data} reload={loaded.reload} />}</Loading>
    </div>
  );
}

interface RulesProps {
  readonly data: DomainRules;
  readonly reload: () => Promise<void>;
}

function Rules({ data: { features, phases, names }, reload }: RulesProps) {
  const { name, domain } = useDomain();
  const [shown, setShown] = useState<Shown>();
  const [message, setMessage] = useState('');
  useScrollToType();
  const pathOf = ({ type, id }: Rule) => ({ path: { domain: name, type, id } });
  const toggle = useAction(async (rule: Rule) => {
    await api.PATCH('/domains/{domain}/rules/{type}/{id}/toggle', { params: pathOf(rule) });
    await reload();
  });
  const move = useAction(async ({ type, id }: Rule, by: -1 | 1) => {
    const places = movedPlaces(phases.find((phase) => phase.type === type)?.rules ?? [], id, by);
    if (places === undefined) return;
    await api.PATCH('/domains/{domain}/rules/{type}/reorder', {
      params: { path: { domain: name, type } },
      body: [...places],
    });
    await reload();
    setMessage(text.moved(id, places.findIndex((place) => place.id === id) + 1, places.length));
  });
  const open = useAction(async (rule: Rule) => {
    // Lists omit large members.
    const whole = await dataOf(api.GET('/domains/{domain}/rules/{type}/{id}', { params: pathOf(rule) }));
    setShown({ kind: 'edit', rule: whole });
  });
  const rowActions = [toggle, move, open];
  const failed = rowActions.find(({ error }) => error !== undefined);
  const remove = useAction(async (rule: Rule) => {
    await api.DELETE('/domains/{domain}/rules/{type}/{id}', { params: pathOf(rule) });
    close();
    toast(text.deleted(rule.id));
    await reload();
  });
  // The dialog may have been replaced by another before its request is answered.
  const close = () => {
    setShown((now) => (now === shown ? undefined : now));
    remove.clear();
  };
  const mayEdit = mayDo(domain, 'rules.edit');
  const mayWrite = mayEdit && features.rules_enabled;
  const isEmpty = phases.length === 0;
  const missing = TYPES.filter((type) => !phases.some((phase) => phase.type === type));
  const add = mayWrite && (
    <Button kind="main" onClick={() => setShown({ kind: 'types' })}>
      {text.add}
    </Button>
  );
  return (
    <>
      {!features.rules_enabled && (
        <Note tone="warn">
          {isEmpty ? text.noPlan : text.noPlanButRules}{' '}
          {mayDo(domain, 'billing') && <Link to={domainPath(name, 'plan')}>{text.toPlan}</Link>}
        </Note>
      )}
      {isEmpty ? (
        features.rules_enabled && (
          <Empty title={text.none}>
            <p>{text.noneText}</p>
            {add}
          </Empty>
        )
      ) : (
        <>
          <div class="rules-head">
            <p class="quiet">{text.intro}</p>
            {add}
          </div>
          <Tester rules={phases.flatMap(({ rules }) => rules)} />
        </>
      )}
      <Failure error={failed?.error} />
      <p class="only-read" role="status">
        {message}
      </p>
      {phases.map(({ type, rules }) => (
        <Phase
          key={type}
          type={type}
          rules={rules}
          names={names}
          limit={features.max_rules_per_set}
          mayEdit={mayEdit}
          mayWrite={mayWrite}
          isBusy={rowActions.some(({ isBusy }) => isBusy)}
          onAdd={() => setShown({ kind: 'new', type })}
          onMove={(rule, by) => {
            failed?.clear();
            void move.run(rule, by);
          }}
          onToggle={(rule) => {
            failed?.clear();
            void toggle.run(rule);
          }}
          onEdit={(rule) => {
            failed?.clear();
            void open.run(rule);
          }}
          onDelete={(rule) => setShown({ kind: 'delete', rule })}
        />
      ))}
      {!isEmpty && missing.length > 0 && (
        <p class="quiet rules-missing">
          {text.noneOf} {words.figures.listed(missing.map((type) => text.types[type]))}
        </p>
      )}
      {shown?.kind === 'types' && (
        <ChooseType onChoose={(type) => setShown({ kind: 'new', type })} onClose={close} />
      )}
      {(shown?.kind === 'new' || shown?.kind === 'edit') && (
        <RuleDialog
          type={shown.kind === 'new' ? shown.type : shown.rule.type}
          rule={shown.kind === 'new' ? undefined : shown.rule}
          onDone={() => {
            close();
            toast(text.saved);
            void reload();
          }}
          onClose={close}
        />
      )}
      {shown?.kind === 'delete' && (
        <Confirm
          title={text.deleteTitle(shown.rule.id)}
          action={words.common.delete}
          isDanger
          isBusy={remove.isBusy}
          error={remove.error}
          onConfirm={() => void remove.run(shown.rule)}
          onClose={close}
        >
          <p>{text.deleteText}</p>
        </Confirm>
      )}
    </>
  );
}

/** Shows the type in the URL: `?type=redirect`. */
function useScrollToType(): void {
  const type = typeOf(usePlace().query.type);
  useEffect(() => {
    if (type === undefined) return;
    const heading = document.getElementById(`rules-${type}`);
    heading?.scrollIntoView();
    heading?.focus({ preventScroll: true });
  }, [type]);
}
