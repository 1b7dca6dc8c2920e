// DNSSEC actions. A dialog explains each one first, with its steps and how long they take.

import { useState } from 'preact/hooks';
import { api, dataOf, idempotent } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { toast } from '../../app/toasts.ts';
import { Button } from '../../parts/button.tsx';
import { Confirm } from '../../parts/dialog.tsx';
import { Note } from '../../parts/failure.tsx';
import { SelectField } from '../../parts/field.tsx';
import { dnssec as dnssecWords } from '../../words/dnssec.ts';
import { mayDo, useDomain } from '../domain/domain-here.ts';
import { actionsFor, type Dnssec } from './steps.ts';

const text = dnssecWords.actions;

type What = ReturnType<typeof actionsFor>[number];
type Denial = Dnssec['denial'];

interface ActionsProps {
  readonly dnssec: Dnssec;
  readonly onChanged: (dnssec: Dnssec) => void;
}

export function Actions({ dnssec, onChanged }: ActionsProps) {
  const { domain } = useDomain();
  const [asked, setAsked] = useState<What | 'denial'>();
  if (!mayDo(domain, 'domain.settings')) return null;
  const actions = domain.dns_mode === 'managed' ? actionsFor(dnssec) : [];
  const isSigned = ['waiting', 'ds_wanted', 'secure'].includes(dnssec.status);
  if (actions.length === 0) return null;
  return (
    <section class="row dnssec-actions" aria-label={text.label}>
      {actions.map((action) => (
        <Button
          key={action}
          kind={action === 'enable' ? 'main' : action === 'disable' ? 'danger' : undefined}
          onClick={() => setAsked(action)}
        >
          {text.buttons[action]}
        </Button>
      ))}
      {isSigned && <Button onClick={() => setAsked('denial')}>{text.buttons.denial}</Button>}
      {asked !== undefined && (
        <Question
          key={asked}
          what={asked}
          dnssec={dnssec}
          onDone={(changed) => {
            setAsked(undefined);
            toast(text.done[asked]);
            onChanged(changed);
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </section>
  );
}

interface QuestionProps {
  readonly what: What | 'denial';
  readonly dnssec: Dnssec;
  readonly onDone: (changed: Dnssec) => void;
  readonly onClose: () => void;
}

function Question({ what, dnssec, onDone, onClose }: QuestionProps) {
  const { name, domain } = useDomain();
  const [denial, setDenial] = useState<Denial>(
    what === 'denial' && dnssec.denial === 'nsec' ? 'nsec3' : 'nsec',
  );
  const [algorithm, setAlgorithm] = useState<13 | 15>(dnssec.algorithm.number === 15 ? 15 : 13);
  const [reason, setReason] = useState<'planned' | 'compromised'>('planned');
  const act = useAction(async () => {
    const path = { domain: name };
    const params = { path, ...idempotent() };
    switch (what) {
      case 'enable':
        return onDone(
          await dataOf(api.POST('/domains/{domain}/dnssec/enable', { params, body: { denial, algorithm } })),
        );
      case 'roll': {
        const isOther = algorithm !== dnssec.algorithm.number;
        const body = { reason, ...(isOther && { algorithm }) };
        return onDone(await dataOf(api.POST('/domains/{domain}/dnssec/rollover', { params, body })));
      }
      case 'disable':
        return onDone(await dataOf(api.POST('/domains/{domain}/dnssec/disable', { params })));
      case 'abort':
        return onDone(await dataOf(api.POST('/domains/{domain}/dnssec/abort', { params })));
      case 'denial':
        return onDone(
          await dataOf(api.PUT('/domains/{domain}/dnssec', { params: { path }, body: { denial } })),
        );
      default:
        return what satisfies never;
    }
  });
  const code = act.error?.code;
  const advice =
    code !== undefined && code in text.refused ? text.refused[code as keyof typeof text.refused] : '';
  return (
    <Confirm
      title={text.titles[what](domain.name_unicode)}
      action={text.buttons[what]}
      isDanger={what === 'disable'}
      isBusy={act.isBusy}
      error={act.error}
      onConfirm={() => void act.run()}
      onClose={onClose}
    >
      <ul class="dnssec-what">
        {text.what[what].map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      {what === 'roll' && (
        <SelectField
          label={text.reason}
          hint={text.reasonHint}
          choices={[
            { value: 'planned', label: text.reasons.planned },
            { value: 'compromised', label: text.reasons.compromised },
          ]}
          value={reason}
          onChange={(event) =>
            setReason(event.currentTarget.value === 'compromised' ? 'compromised' : 'planned')
          }
        />
      )}
      {(what === 'enable' || what === 'roll') && (
        <details>
          <summary>{text.more}</summary>
          <div class="stack">
            <SelectField
              label={text.algorithm}
              hint={text.algorithmHint}
              choices={[
                { value: '13', label: text.algorithms[13] },
                { value: '15', label: text.algorithms[15] },
              ]}
              value={String(algorithm)}
              onChange={(event) => setAlgorithm(event.currentTarget.value === '15' ? 15 : 13)}
            />
            {what === 'enable' && <DenialField value={denial} onChoose={setDenial} />}
          </div>
        </details>
      )}
      {what === 'denial' && <DenialField value={denial} onChoose={setDenial} />}
      {advice !== '' && (
        <Note tone="warn">
          <p>{advice}</p>
        </Note>
      )}
    </Confirm>
  );
}

function DenialField({
  value,
  onChoose,
}: {
  readonly value: Denial;
  readonly onChoose: (value: Denial) => void;
}) {
  return (
    <SelectField
      label={text.denial}
      hint={text.denialHint}
      choices={[
        { value: 'nsec', label: text.denials.nsec },
        { value: 'nsec3', label: text.denials.nsec3 },
      ]}
      value={value}
      onChange={(event) => onChoose(event.currentTarget.value === 'nsec3' ? 'nsec3' : 'nsec')}
    />
  );
}
