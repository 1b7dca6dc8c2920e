// Buys a term of a plan for a domain of a client, which is created first if it is new.

import { useState } from 'preact/hooks';
import { dataOf, idempotent, type Schemas } from '../../api/client.ts';
import { useAction } from '../../api/use-action.ts';
import { useLoad } from '../../api/use-load.ts';
import { Link } from '../../app/place.tsx';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Failure, Note } from '../../parts/failure.tsx';
import { SelectField, TextField } from '../../parts/field.tsx';
import { Loading } from '../../parts/loading.tsx';
import { domainSettings } from '../../words/domain-settings.ts';
import { plan } from '../../words/plan.ts';
import { reseller } from '../../words/reseller.ts';
import { words } from '../../words/words.ts';
import { resell } from './reseller-session.ts';
import { termChoices } from './service-terms.ts';

type Service = Schemas['Service'];
const MODES = ['managed', 'external'] as const;
const text = reseller.services;

interface BuyTermProps {
  readonly clientId: number;
  /** Undefined for a new domain. */
  readonly service: Service | undefined;
  readonly onClose: () => void;
  readonly onBought: (service: Service) => void;
}

export function BuyTerm({ clientId, service, onClose, onBought }: BuyTermProps) {
  const plans = useLoad('reseller plans', (signal) => dataOf(resell.GET('/reseller/v1/plans', { signal })));
  const [name, setName] = useState('');
  const [mode, setMode] = useState<(typeof MODES)[number]>('managed');
  const [chosen, setChosen] = useState<string>();
  const choices = termChoices(plans.data ?? []);
  const term = chosen ?? choices[0]?.value;
  const buy = useAction(async () => {
    const termId = Number(term);
    onBought(
      await dataOf(
        service === undefined
          ? resell.POST('/reseller/v1/services', {
              params: idempotent(),
              body: { client_id: clientId, domain: name.trim(), plan_term_id: termId, dns_mode: mode },
            })
          : resell.POST('/reseller/v1/services/{serviceId}/change-plan', {
              params: { path: { serviceId: service.id }, ...idempotent() },
              body: { plan_term_id: termId },
            }),
      ),
    );
  });
  return (
    <Dialog title={service === undefined ? text.add : text.changeTitle(service.domain)} onClose={onClose}>
      <Loading of={plans}>
        {() =>
          choices.length === 0 ? (
            <Note tone="warn">{text.noTerms}</Note>
          ) : (
            <form
              class="stack"
              onSubmit={(event) => {
                event.preventDefault();
                void buy.run();
              }}
            >
              {service === undefined && (
                <>
                  <TextField
                    label={text.domain}
                    hint={text.domainHint}
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck={false}
                    required
                    value={name}
                    problem={buy.error?.of('domain')}
                    onInput={(event) => {
                      buy.clear();
                      setName(event.currentTarget.value);
                    }}
                  />
                  <SelectField
                    label={domainSettings.mode.title}
                    hint={domainSettings.mode[`${mode}Text`]}
                    value={mode}
                    choices={MODES.map((value) => ({ value, label: domainSettings.mode[value] }))}
                    onChange={(event) => setMode(event.currentTarget.value as typeof mode)}
                  />
                </>
              )}
              <SelectField
                label={text.plan}
                hint={service === undefined ? text.payHint : text.changeHint}
                value={term}
                choices={choices}
                problem={buy.error?.of('plan_term_id')}
                onChange={(event) => {
                  buy.clear();
                  setChosen(event.currentTarget.value);
                }}
              />
              <Failure error={buy.error} shownFields={['domain', 'plan_term_id']} />
              {buy.error?.code === 'credit_limit_reached' && (
                <p>
                  <Link to="/wallet">{plan.topUp}</Link>
                </p>
              )}
              <div class="row">
                <Button type="submit" kind="main" isBusy={buy.isBusy}>
                  {service === undefined ? text.add : text.change}
                </Button>
                <Button onClick={onClose}>{words.common.cancel}</Button>
              </div>
            </form>
          )
        }
      </Loading>
    </Dialog>
  );
}
