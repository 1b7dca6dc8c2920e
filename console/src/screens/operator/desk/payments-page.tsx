// Top-ups of all accounts, by default those waiting for payment.

import { useState } from 'preact/hooks';
import type { components } from '../../../api/admin-schema.d.ts';
import { admin } from '../../../api/client.ts';
import { useAction } from '../../../api/use-action.ts';
import { pageOf, usePages } from '../../../api/use-pages.ts';
import { Link, usePlace } from '../../../app/place.tsx';
import { toast } from '../../../app/toasts.ts';
import { Button } from '../../../parts/button.tsx';
import { Confirm } from '../../../parts/dialog.tsx';
import { Badge } from '../../../parts/status.tsx';
import { count, Time } from '../../../parts/time.tsx';
import { operator } from '../../../words/operator.ts';
import { words } from '../../../words/words.ts';
import { ChoiceFilter, ID, idIn, oneOf, TextFilter } from '../filters.tsx';
import { AT_ONCE, WatchedList } from '../watched-list.tsx';

type Row = components['schemas']['AdminPayment'];
const say = operator.payments;
const STATES = ['open', 'paid', 'cancelled', 'expired'] as const;
const TONES = { open: 'warn', paid: 'good', cancelled: '', expired: '' } as const;

export default function PaymentsPage() {
  const { query } = usePlace();
  const [asked, setAsked] = useState<Row>();
  const wish = {
    state: query.state === 'all' ? undefined : (oneOf(query.state, STATES) ?? ('open' as const)),
    user: idIn(query.user),
  };
  const pages = usePages<Row>(`operator payments ${JSON.stringify(wish)}`, (cursor, signal) =>
    pageOf(admin.GET('/admin/payments', { params: { query: { ...wish, limit: AT_ONCE, cursor } }, signal })),
  );
  return (
    <>
      <WatchedList<Row>
        title={words.frame.operatorPages.payments}
        pages={pages}
        keyOf={({ id }) => id}
        none={{ title: say.none, text: say.noneText }}
        filterNames={['state', 'user']}
        filters={
          <>
            <ChoiceFilter
              name="state"
              label={say.state}
              first={say.states.open}
              choices={[
                ...STATES.filter((state) => state !== 'open').map(
                  (state) => [state, say.states[state]] as const,
                ),
                ['all', operator.all],
              ]}
            />
            <TextFilter
              name="user"
              label={operator.accountNumber}
              hint={operator.audit.filters.number}
              pattern={ID}
            />
          </>
        }
        columns={[
          {
            key: 'reference',
            title: say.columns.reference,
            cell: ({ reference }) => <code>{reference}</code>,
            text: ({ reference }) => reference,
          },
          {
            key: 'state',
            title: say.columns.state,
            cell: ({ state, refused_rials }) => (
              <>
                <Badge tone={TONES[state]}>{say.states[state]}</Badge>
                {refused_rials !== undefined && (
                  <div class="problem">{say.refused(count(refused_rials))}</div>
                )}
              </>
            ),
            text: ({ state }) => state,
          },
          {
            key: 'email',
            title: say.columns.email,
            cell: ({ user_id, email }) => <Link to={`/operator/accounts/${user_id}`}>{email}</Link>,
            text: ({ email }) => email,
          },
          {
            key: 'amount',
            title: say.columns.amount,
            isNumber: true,
            cell: ({ amount_rials }) => count(amount_rials),
            text: ({ amount_rials }) => amount_rials,
          },
          {
            key: 'gateway',
            title: say.columns.gateway,
            cell: ({ gateway }) => gateway,
            text: ({ gateway }) => gateway,
          },
          {
            key: 'ordered',
            title: say.columns.ordered,
            cell: ({ created_at }) => <Time at={created_at} />,
            text: ({ created_at }) => created_at,
          },
          {
            key: 'ends',
            title: say.columns.ends,
            cell: ({ paid_at, cancelled_at, expires_at }) => (
              <Time at={paid_at ?? cancelled_at ?? expires_at} />
            ),
            text: ({ paid_at, cancelled_at, expires_at }) => paid_at ?? cancelled_at ?? expires_at,
          },
          {
            key: 'act',
            title: '',
            cell: (row) =>
              row.state === 'paid' ? null : (
                <Button aria-label={`${say.confirm} ${row.reference}`} onClick={() => setAsked(row)}>
                  {say.confirm}
                </Button>
              ),
          },
        ]}
      />
      {asked !== undefined && (
        <ConfirmPayment
          payment={asked}
          onDone={() => void pages.loaded.reload()}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  );
}

interface ConfirmPaymentProps {
  readonly payment: Row;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

function ConfirmPayment({ payment, onDone, onClose }: ConfirmPaymentProps) {
  const { id, reference, amount_rials: amount, email } = payment;
  const confirm = useAction(async () => {
    await admin.POST('/admin/payments/{id}/confirm', { params: { path: { id } } });
    toast(say.confirmed(reference));
    onClose();
    onDone();
  });
  return (
    <Confirm
      title={say.confirmTitle(reference)}
      action={say.confirmNow}
      isBusy={confirm.isBusy}
      error={confirm.error}
      onConfirm={() => void confirm.run()}
      onClose={onClose}
    >
      <p>{say.confirmText(count(amount), email)}</p>
    </Confirm>
  );
}
