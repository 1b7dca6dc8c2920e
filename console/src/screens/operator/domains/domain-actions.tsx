// Actions on one domain. All except the check are confirmed first.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin, dataOf } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog.tsx';
import { Failure } from '../../../parts/failure.tsx';
import { CheckField } from '../../../parts/field.tsx';
import { delegation } from '../../../words/delegation.ts';
import { operator } from '../../../words/operator.ts';
import { canCheck, type Move, movesOf, STOPS } from './moves.ts';

type Domain = components['schemas']['AdminDomain'];
const say = operator.domains;

interface ActionsProps {
  readonly domain: Domain;
  readonly onChanged: (domain: Domain) => void;
}

export function DomainActions({ domain, onChanged }: ActionsProps) {
  const [asked, setAsked] = useState<Move>();
  const [verdict, setVerdict] = useState<string>();
  const check = useAction(async () => {
    setVerdict(undefined);
    const params = { path: { id: domain.id } };
    const { check: made, ...after } = await dataOf(admin.POST('/admin/domains/{id}/check', { params }));
    setVerdict(delegation.verdicts[made.verdict]);
    onChanged(after);
  });
  return (
    <>
      {canCheck(domain) && (
        <div class="ope-action">
          <Button kind="main" isBusy={check.isBusy} onClick={() => void check.run()}>
            {say.check}
          </Button>
          <span class="quiet" role="status">
            {verdict === undefined ? say.checkText : say.checked(verdict)}
          </span>
        </div>
      )}
      <Failure error={check.error} />
      {movesOf(domain).map((move) => (
        <div class="ope-action" key={move}>
          <Button kind={STOPS.includes(move) ? 'danger' : undefined} onClick={() => setAsked(move)}>
            {say.moves[move]}…
          </Button>
          <span class="quiet">{say.hints[move]}</span>
        </div>
      ))}
      {asked !== undefined && (
        <AskMove
          domain={domain}
          move={asked}
          onDone={(after) => {
            setAsked(undefined);
            onChanged(after);
          }}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface AskProps {
  readonly domain: Domain;
  readonly move: Move;
  readonly onDone: (domain: Domain) => void;
  readonly onClose: () => void;
}

function AskMove({ domain, move, onDone, onClose }: AskProps) {
  const [take, setTake] = useState(false);
  const act = useAction(async () => {
    const after = await dataOf(send(domain.id, move, take));
    toast(operator.done);
    onDone(after);
  });
  return (
    <Confirm
      title={say.titles[move](domain.name_unicode)}
      action={say.moves[move]}
      isDanger={STOPS.includes(move)}
      {...(move === 'ban' && { typed: domain.name })}
      isBusy={act.isBusy}
      error={act.error}
      onConfirm={() => void act.run()}
      onClose={onClose}
    >
      <p>{say.hints[move]}</p>
      {move === 'approve' && (
        <CheckField
          label={say.take}
          checked={take}
          onChange={(event) => setTake(event.currentTarget.checked)}
        />
      )}
    </Confirm>
  );
}

function send(id: number, move: Move, take: boolean) {
  const params = { path: { id } };
  switch (move) {
    case 'ban':
      return admin.POST('/admin/domains/{id}/ban', { params });
    case 'unban':
      return admin.POST('/admin/domains/{id}/unban', { params });
    case 'disable':
      return admin.POST('/admin/domains/{id}/disable', { params });
    case 'enable':
      return admin.POST('/admin/domains/{id}/enable', { params });
    case 'suspend':
      return admin.POST('/admin/domains/{id}/suspend', { params });
    case 'resume':
      return admin.POST('/admin/domains/{id}/resume', { params });
    case 'approve':
      return admin.POST('/admin/domains/{id}/approve', { params, body: { take } });
  }
}
